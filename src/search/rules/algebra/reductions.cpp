#include <algorithm>

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
using egraph::Operator;
using egraph::Pattern;

constexpr Monoid kMonoids[] = {Monoid::kSum, Monoid::kProd, Monoid::kMax, Monoid::kMin};

std::optional<Monoid> monoid_of(const std::string& text) {
    for (const Monoid monoid : kMonoids)
        if (name(monoid) == text) return monoid;
    return {};
}

bool is_folded(const std::vector<int64_t>& axes, size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

std::optional<Attributes> recognise_reduction(const Operator& op) {
    const auto indexed = recognise_indexed(op);
    if (!indexed || indexed->labels.size() != 1 || indexed->monoid == Monoid::kNone) return {};
    if (!reads_in({indexed->post.expr}).empty()) return {};
    std::vector<int64_t> axes;
    int64_t next = 0;
    for (size_t axis = 0; axis < indexed->labels.front().size(); ++axis) {
        const int64_t label = indexed->labels.front()[axis];
        if (label >= indexed->rank)
            axes.push_back(static_cast<int64_t>(axis));
        else if (label != next++)
            return {};
    }
    if (axes.empty() || next != indexed->rank) return {};
    return Attributes{{"axes", axes},
                      {"monoid", std::string(name(indexed->monoid))},
                      {"body", indexed->body},
                      {"post", indexed->post},
                      {"result", std::string(name(indexed->result))},
                      {"accumulator", std::string(name(indexed->accumulator))}};
}

std::optional<Operator> make_reduction(const Attributes& attributes, std::span<const TensorType> types,
                                       Symbols symbols) {
    const auto text = [&](const char* key) { return std::get<std::string>(attributes.at(key)); };
    const auto& axes = std::get<std::vector<int64_t>>(attributes.at("axes"));
    const auto monoid = monoid_of(text("monoid"));
    const auto result = element_type_of(text("result")), accumulator = element_type_of(text("accumulator"));
    if (types.size() != 1 || !monoid || !result || !accumulator) return {};
    const size_t all = types.front().shape.size();
    int64_t kept = 0, folded = static_cast<int64_t>(all - axes.size());
    Indexed indexed{.labels = {{}},
                    .elements = {},
                    .rank = folded,
                    .shape = std::nullopt,
                    .monoid = *monoid,
                    .body = std::get<Formula>(attributes.at("body")),
                    .post = std::get<Formula>(attributes.at("post")),
                    .result = *result,
                    .accumulator = *accumulator};
    for (size_t axis = 0; axis < all; ++axis)
        indexed.labels.front().push_back(is_folded(axes, axis) ? folded++ : kept++);
    return make_indexed("reduce", indexed, types, symbols);
}

}  // namespace

egraph::FamilyPtr reductions(Symbols symbols) {
    return family("reduce", recognise_reduction, make_reduction, symbols);
}

std::vector<RuleEntry> reduction_rules(const Families& families) {
    const auto reduce = [&](const egraph::AttributePattern& axes, Pattern x) {
        return apply(families.reduce,
                     {{"axes", axes},
                      {"monoid", bound("monoid")},
                      {"body", bound("f")},
                      {"post", bound("post")},
                      {"result", bound("type")},
                      {"accumulator", bound("accumulator")}},
                     {std::move(x)});
    };
    // Axis i of the transposed operand is axis perm[i]: those that are folded, and the order of those that
    // stay.
    const auto folded_before = computed([](const Match& m) -> Attribute {
        auto axes = permuted(m.attribute<Permutation>("p"), m.attribute<std::vector<int64_t>>("axes"));
        std::sort(axes.begin(), axes.end());
        return axes;
    });
    const auto order_of_kept = computed([](const Match& m) -> Attribute {
        const auto& perm = m.attribute<Permutation>("p");
        const auto& axes = m.attribute<std::vector<int64_t>>("axes");
        Permutation kept;
        for (size_t i = 0; i < perm.size(); ++i)
            if (!is_folded(axes, i)) kept.push_back(perm[i]);
        Permutation sorted = kept;
        std::sort(sorted.begin(), sorted.end());
        for (int64_t& axis : kept)
            axis = std::lower_bound(sorted.begin(), sorted.end(), axis) - sorted.begin();
        return kept;
    });
    return {
        {.rule = egraph::Rule(
             {.name = "reduce-of-transpose",
              .from = reduce(bound("axes"), apply(families.transpose, {{"perm", bound("p")}}, {hole("a")})),
              .to =
                  apply(families.transpose, {{"perm", order_of_kept}}, {reduce(folded_before, hole("a"))})}),
         .exactness = Exactness::kSumOrder,
         .example = Example({{"a", row_major(ElementType::kF16, {Dim("T"), 3, 2, 5})}},
                            {{"p", Permutation{3, 1, 2, 0}},
                             {"axes", std::vector<int64_t>{0, 2}},
                             {"monoid", "sum"},
                             {"f", formula("X * X", 1)},
                             {"post", Formula{tessera::apply(Function::kSqrt, {folded()})}},
                             {"type", "f32"},
                             {"accumulator", "f32"}})},
    };
}

}  // namespace tessera::rules
