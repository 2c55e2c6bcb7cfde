// A product of matrices by the labels of its axes: Y[0, 1] = sum over 2 of A[0, 2] B[1, 2]. A transposed
// factor is the factor with its labels in another order, a transposed product the product with its first
// labels renamed.
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/indexed.h"
#include "search/rules/algebra/permutation.h"

namespace tessera::rules {
namespace {

using egraph::apply;
using egraph::Attribute;
using egraph::AttributePattern;
using egraph::Attributes;
using egraph::bound;
using egraph::computed;
using egraph::hole;
using egraph::Match;
using egraph::Operator;
using egraph::Pattern;
using Labels = std::vector<int64_t>;

std::optional<Attributes> recognise_product(const Operator& op) {
    static const Formula product = formula("X * Z", 2);
    const auto indexed = recognise_indexed(op);
    if (!indexed || indexed->labels.size() != 2 || indexed->monoid != Monoid::kSum) return {};
    if (!(indexed->body == product) || !reads_in({indexed->post.expr}).empty()) return {};
    return Attributes{{"a", indexed->labels[0]},
                      {"b", indexed->labels[1]},
                      {"rank", indexed->rank},
                      {"post", indexed->post},
                      {"result", std::string(name(indexed->result))},
                      {"accumulator", std::string(name(indexed->accumulator))}};
}

std::optional<Operator> make_product(const Attributes& attributes, std::span<const TensorType> types,
                                     Symbols symbols) {
    const auto element = [&](const char* key) {
        return element_type_of(std::get<std::string>(attributes.at(key)));
    };
    const auto result = element("result"), accumulator = element("accumulator");
    if (!result || !accumulator) return {};
    return make_indexed(
        "product",
        {.labels = {std::get<Labels>(attributes.at("a")), std::get<Labels>(attributes.at("b"))},
         .elements = {},
         .rank = std::get<int64_t>(attributes.at("rank")),
         .shape = std::nullopt,
         .monoid = Monoid::kSum,
         .body = formula("X * Z", 2),
         .post = std::get<Formula>(attributes.at("post")),
         .result = *result,
         .accumulator = *accumulator},
        types, symbols);
}

/// The labels of the operand below the transpose `p` of one that has the labels `name`.
AttributePattern labels_below(const std::string& name) {
    return computed([name](const Match& m) -> Attribute {
        return permuted(m.attribute<Labels>(name), inverse(m.attribute<Permutation>("p")));
    });
}

/// Labels `name` behind the transpose `p` of the result.
AttributePattern labels_behind(const std::string& name) {
    return computed([name](const Match& m) -> Attribute {
        const Permutation renamed = inverse(m.attribute<Permutation>("p"));
        Labels labels = m.attribute<Labels>(name);
        for (int64_t& label : labels)
            if (label < m.attribute<int64_t>("rank")) label = renamed[static_cast<size_t>(label)];
        return labels;
    });
}

constexpr const char* kRowsOf16Bits = R"(graph "rows_of_16_bits"
symbol T in 1..6
input x: bf16[T, 5]
constant w: f16[4, 5] from "w"
value y: f32[4, T]
block body
  node y(x, w) -> y
    op product(n: 4, t: T, k*: 5)
    dim T in 1..6
    in X bf16[t, k]
    in W f16[n, k]
    out Y f32[n, t] = sum(X * W) * 0.5
output y
)";

}  // namespace

egraph::FamilyPtr products(Symbols symbols) {
    return family("product", recognise_product, make_product, symbols);
}

Pattern product_of(const Families& families, AttributePattern a, AttributePattern b, Pattern x, Pattern z) {
    return apply(families.product,
                 {{"a", std::move(a)},
                  {"b", std::move(b)},
                  {"rank", bound("rank")},
                  {"post", bound("post")},
                  {"result", bound("type")},
                  {"accumulator", bound("accumulator")}},
                 {std::move(x), std::move(z)});
}

std::vector<RuleEntry> product_rules(const Families& families) {
    const auto product = [&](const AttributePattern& a, const AttributePattern& b, const Pattern& x,
                             const Pattern& z) { return product_of(families, a, b, x, z); };
    const auto t = [&](Pattern x) {
        return apply(families.transpose, {{"perm", bound("p")}}, {std::move(x)});
    };
    // Widening weights or a cache would copy them: these are widened panel by panel as they are read.
    const auto is_narrow_rows = [](const egraph::ClassFacts& facts) {
        const ElementType element = facts.types.front().element;
        return !facts.is_constant && (element == ElementType::kF16 || element == ElementType::kBF16);
    };
    const Pattern x = hole("x"), z = hole("z"), rows_of_16_bits = hole("x", is_narrow_rows),
                  weights = hole("z", &egraph::ClassFacts::is_constant);
    const auto a = bound("a"), b = bound("b");
    const Pattern rows_as_f32 =
        apply(families.unary, {{"body", Attribute(bare_read())}, {"result", Attribute(std::string("f32"))}},
              {rows_of_16_bits});
    const Attribute scaled = Formula{tessera::apply(Function::kMul, {folded(), real(0.5)})};
    // Y[h, t, n] = 0.5 sum over k of X[h, t, k] Z[h, n, k], X or Z or Y being transposed.
    const auto example = [&](TensorType first, TensorType second, Permutation perm) {
        return Example({{"x", std::move(first)}, {"z", std::move(second)}}, {{"a", Labels{0, 1, 3}},
                                                                             {"b", Labels{0, 2, 3}},
                                                                             {"rank", int64_t{3}},
                                                                             {"post", scaled},
                                                                             {"type", "f32"},
                                                                             {"accumulator", "f32"},
                                                                             {"p", std::move(perm)}});
    };
    const auto rows = row_major(ElementType::kF32, {2, Dim("T"), 5}),
               columns = row_major(ElementType::kBF16, {2, 3, 5});
    return {
        {.rule = egraph::Rule({.name = "product-of-transpose-left",
                               .from = product(a, b, t(x), z),
                               .to = product(labels_below("a"), b, x, z)}),
         .exactness = Exactness::kExact,
         .example = example(row_major(ElementType::kF32, {5, 2, Dim("T")}), columns, {1, 2, 0})},
        {.rule = egraph::Rule({.name = "product-of-transpose-right",
                               .from = product(a, b, x, t(z)),
                               .to = product(a, labels_below("b"), x, z)}),
         .exactness = Exactness::kExact,
         .example = example(rows, row_major(ElementType::kBF16, {5, 2, 3}), {1, 2, 0})},
        {.rule = egraph::Rule({.name = "transpose-of-product",
                               .from = t(product(a, b, x, z)),
                               .to = product(labels_behind("a"), labels_behind("b"), x, z)}),
         .exactness = Exactness::kExact,
         .example = example(rows, columns, {2, 0, 1})},
        {.rule = egraph::Rule({.name = "widen-factor",
                               .from = product(a, b, rows_of_16_bits, weights),
                               .to = product(a, b, rows_as_f32, weights)}),
         .exactness = Exactness::kExact,
         .example = Example(kRowsOf16Bits)},
        {.rule = egraph::Rule({.name = "swap-roles", .from = product(a, b, x, z), .to = product(b, a, z, x)}),
         .exactness = Exactness::kExact,
         .example = example(rows, columns, {0, 1, 2})},
    };
}

}  // namespace tessera::rules
