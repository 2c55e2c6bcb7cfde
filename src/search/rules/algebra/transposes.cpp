// Paper 000, table 1. The first three rules bring a transpose towards the result, the others make one of two
// and none of a trivial one; where transposes meet that undo each other, none is left.
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/indexed.h"
#include "search/rules/algebra/permutation.h"

namespace tessera::rules {
namespace {

using egraph::apply;
using egraph::Attribute;
using egraph::Attributes;
using egraph::bound;
using egraph::computed;
using egraph::hole;
using egraph::Match;
using egraph::Pattern;

std::optional<Attributes> recognise(const egraph::Operator& op) {
    const auto indexed = recognise_indexed(op);
    if (!indexed || indexed->labels.size() != 1 || indexed->monoid != Monoid::kNone) return {};
    if (!is_bare_read(indexed->body) || indexed->elements.front() != indexed->result) return {};
    const Permutation& labels = indexed->labels.front();
    if (static_cast<int64_t>(labels.size()) != indexed->rank) return {};
    return Attributes{{"perm", inverse(labels)}};
}

}  // namespace

egraph::FamilyPtr transposes(Symbols symbols) {
    const auto make = [symbols = std::vector(symbols.begin(), symbols.end())](
                          const Attributes& attributes,
                          std::span<const TensorType> types) -> std::optional<egraph::Operator> {
        const auto& perm = std::get<Permutation>(attributes.at("perm"));
        if (types.size() != 1 || types.front().shape.size() != perm.size()) return {};
        return make_indexed("transpose",
                            {.labels = {inverse(perm)},
                             .rank = static_cast<int64_t>(perm.size()),
                             .body = bare_read(),
                             .result = types.front().element},
                            types, symbols);
    };
    return std::make_shared<egraph::OperatorFamily>(
        egraph::OperatorFamily{.name = "transpose", .recognise = recognise, .make = make});
}

std::vector<RuleEntry> transpose_rules(const Families& families) {
    const auto t = [&](const egraph::AttributePattern& perm, Pattern x) {
        return apply(families.transpose, {{"perm", perm}}, {std::move(x)});
    };
    const auto unary = [&](Pattern x) { return any_unary(families, std::move(x)); };
    const auto binary = [&](Pattern x, Pattern z) {
        return any_binary(families, std::move(x), std::move(z));
    };
    const Pattern a = hole("a"), b = hole("b");
    const auto p = bound("p"), q = bound("q");
    const auto p_inverse =
        computed([](const Match& m) -> Attribute { return inverse(m.attribute<Permutation>("p")); });
    const auto both = computed([](const Match& m) -> Attribute {
        return permuted(m.attribute<Permutation>("p"), m.attribute<Permutation>("q"));
    });
    const TensorType narrow = row_major(ElementType::kBF16, {Dim("T"), 3, 2}),
                     wide = row_major(ElementType::kF32, {2, Dim("T"), 3}),
                     plain = row_major(ElementType::kF32, {Dim("T"), 3, 2});
    const Permutation turn = {2, 0, 1};
    return {
        {.rule = egraph::Rule({.name = "combine-binary-left",
                               .from = binary(t(p, a), b),
                               .to = t(p, binary(a, t(p_inverse, b)))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", narrow}, {"b", wide}},
                            {{"p", turn}, {"f", formula("X * sigmoid(X) * Z", 2)}, {"type", "bf16"}})},
        {.rule = egraph::Rule({.name = "combine-binary-right",
                               .from = binary(a, t(p, b)),
                               .to = t(p, binary(t(p_inverse, a), b))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", wide}, {"b", narrow}},
                            {{"p", turn}, {"f", formula("X - Z", 2)}, {"type", "f32"}})},
        {.rule = egraph::Rule({.name = "combine-unary", .from = unary(t(p, a)), .to = t(p, unary(a))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}}, {{"p", turn}, {"f", formula("exp(X)", 1)}, {"type", "f16"}})},
        {.rule = egraph::Rule({.name = "fold-two", .from = t(q, t(p, a)), .to = t(both, a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}}, {{"p", turn}, {"q", Permutation{0, 2, 1}}})},
        {.rule = egraph::Rule({.name = "fold-nop",
                               .from = t(p, a),
                               .to = a,
                               .condition =
                                   [](const egraph::EGraph&, const Match& m) {
                                       return m.attribute<Permutation>("p") ==
                                              in_order(m.attribute<Permutation>("p").size());
                                   }}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", plain}}, {{"p", Permutation{0, 1, 2}}})},
    };
}

}  // namespace tessera::rules
