// Reshapes travel towards the result as transposes do, and two of them are one.
#include <algorithm>
#include <numeric>

#include "search/rules/algebra/families.h"
#include "search/rules/algebra/formulas.h"
#include "search/rules/algebra/map_forms.h"
#include "search/rules/algebra/permutation.h"
#include "search/rules/algebra/reshape_map.h"

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
using egraph::Rule;
using Shape = std::vector<Dim>;

std::optional<Attributes> recognise_reshape(const Operator& op) {
    const auto renaming = recognise_renaming(op);
    if (!renaming || renaming->from == renaming->to) return {};
    const auto map = reshape_map(renaming->from, renaming->to);
    if (!map) return {};
    for (size_t axis = 0; axis < map->size(); ++axis) {
        const Definition& d = *op.definition();
        if (!same(normal_form(d, renaming->map[axis]), normal_form(d, (*map)[axis]))) return {};
    }
    return Attributes{{"from", renaming->from}, {"to", renaming->to}};
}

std::optional<Operator> make_reshape(const Attributes& attributes, std::span<const TensorType> types,
                                     Symbols symbols) {
    const auto& from = std::get<Shape>(attributes.at("from"));
    const auto& to = std::get<Shape>(attributes.at("to"));
    if (types.size() != 1 || types.front().shape != from || !types.front().layout.is_row_major()) return {};
    auto map = reshape_map(from, to);
    if (!map || to.empty()) return {};
    const bool is_copy = from == to;
    if (is_copy) map = straight_map(to.size());
    Draft draft(is_copy ? "transpose" : "reshape", symbols, types, to);
    draft.add_iterators(to);
    draft.add_operand(types.front().element, *std::move(map), is_copy ? std::nullopt : std::optional(from));
    draft.set_result(types.front().element, to);
    draft.definition.body = {draft.read_of(0)};
    return std::move(draft).finish();
}

/// reshape(transpose(a)) as transpose(reshape(a)): possible where no group of the reshape is torn apart or
/// turned by the transpose.
struct Exchanged {
    Shape to;          ///< of the reshape that comes first
    Permutation perm;  ///< of the transpose that follows
};
std::optional<Exchanged> exchanged(const Shape& from, const Shape& to, const Permutation& perm) {
    const auto groups = reshape_groups(from, to);
    if (!groups || from.size() != perm.size()) return {};
    std::vector<size_t> order(groups->size());
    std::iota(order.begin(), order.end(), 0);
    for (const ReshapeGroup& group : *groups) {
        if (group.from_first == group.from_last) return {};  // an axis of extent 1 from nowhere
        for (size_t axis = group.from_first + 1; axis < group.from_last; ++axis)
            if (perm[axis] != perm[axis - 1] + 1) return {};
    }
    std::sort(order.begin(), order.end(), [&](size_t x, size_t y) {
        return perm[(*groups)[x].from_first] < perm[(*groups)[y].from_first];
    });
    Exchanged result{{}, Permutation(to.size())};
    for (const size_t g : order)
        for (size_t axis = (*groups)[g].to_first; axis < (*groups)[g].to_last; ++axis) {
            result.perm[axis] = static_cast<int64_t>(result.to.size());
            result.to.push_back(to[axis]);
        }
    return result;
}

std::optional<Exchanged> exchanged(const Match& m) {
    return exchanged(m.attribute<Shape>("from"), m.attribute<Shape>("to"), m.attribute<Permutation>("p"));
}

}  // namespace

egraph::FamilyPtr reshapes(Symbols symbols) {
    return family("reshape", recognise_reshape, make_reshape, symbols);
}

std::vector<RuleEntry> reshape_rules(const Families& families) {
    const auto reshape = [&](const AttributePattern& from, const AttributePattern& to, Pattern x) {
        return apply(families.reshape, {{"from", from}, {"to", to}}, {std::move(x)});
    };
    const auto t = [&](const AttributePattern& perm, Pattern x) {
        return apply(families.transpose, {{"perm", perm}}, {std::move(x)});
    };
    const auto unary = [&](Pattern x) { return any_unary(families, std::move(x)); };
    const auto binary = [&](Pattern x, Pattern z) {
        return any_binary(families, std::move(x), std::move(z));
    };
    const Pattern a = hole("a"), b = hole("b");
    const auto from = bound("from"), to = bound("to");
    const auto shape_below = computed([](const Match& m) -> Attribute {
        const auto& perm = m.attribute<Permutation>("p");
        return permuted(m.attribute<Shape>("from"), inverse(perm));
    });
    const auto first_to = computed([](const Match& m) -> Attribute { return exchanged(m)->to; });
    const auto then_perm = computed([](const Match& m) -> Attribute { return exchanged(m)->perm; });
    const Dim t_rows("T");
    const Attribute merged = Shape{t_rows, 6}, split = Shape{t_rows, 2, 3}, turned = Shape{t_rows, 3, 2};
    const auto merged_type = row_major(ElementType::kF32, {t_rows, 6}),
               split_type = row_major(ElementType::kBF16, {t_rows, 2, 3});
    return {
        {.rule = Rule({.name = "fold-two-reshapes",
                       .from = reshape(bound("by"), to, reshape(from, bound("by"), a)),
                       .to = reshape(from, to, a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", split_type}}, {{"from", split}, {"by", merged}, {"to", turned}})},
        {.rule = Rule({.name = "combine-unary-reshape",
                       .from = unary(reshape(from, to, a)),
                       .to = reshape(from, to, unary(a))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", merged_type}},
                            {{"from", merged}, {"to", split}, {"f", formula("X * X", 1)}, {"type", "f32"}})},
        {.rule = Rule({.name = "combine-binary-left-reshape",
                       .from = binary(reshape(from, to, a), b),
                       .to = reshape(from, to, binary(a, reshape(to, from, b)))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", merged_type}, {"b", split_type}},
                            {{"from", merged}, {"to", split}, {"f", formula("X / Z", 2)}, {"type", "f32"}})},
        {.rule = Rule({.name = "combine-binary-right-reshape",
                       .from = binary(a, reshape(from, to, b)),
                       .to = reshape(from, to, binary(reshape(to, from, a), b))}),
         .exactness = Exactness::kExact,
         .example =
             Example({{"a", merged_type}, {"b", split_type}},
                     {{"from", split}, {"to", merged}, {"f", formula("max(X, Z)", 2)}, {"type", "f16"}})},
        {.rule = Rule(
             {.name = "reshape-of-transpose",
              .from = reshape(from, to, t(bound("p"), a)),
              .to = t(then_perm, reshape(shape_below, first_to, a)),
              .condition = [](const egraph::EGraph&, const Match& m) { return exchanged(m).has_value(); }}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", row_major(ElementType::kU8, {2, 3, t_rows})}},
                            {{"p", Permutation{2, 0, 1}}, {"from", split}, {"to", merged}})},
    };
}

}  // namespace tessera::rules
