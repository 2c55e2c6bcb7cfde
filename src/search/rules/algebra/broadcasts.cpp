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
using Shape = std::vector<Dim>;

std::optional<Attributes> recognise_broadcast(const Operator& op) {
    const auto indexed = recognise_indexed(op);
    if (!indexed || indexed->labels.size() != 1 || indexed->monoid != Monoid::kNone) return {};
    if (!is_bare_read(indexed->body) || indexed->elements.front() != indexed->result) return {};
    if (static_cast<int64_t>(indexed->labels.front().size()) >= indexed->rank) return {};
    return Attributes{{"labels", indexed->labels.front()}, {"shape", *indexed->shape}};
}

std::optional<Operator> make_broadcast(const Attributes& attributes, std::span<const TensorType> types,
                                       Symbols symbols) {
    const auto& shape = std::get<Shape>(attributes.at("shape"));
    if (types.size() != 1) return {};
    return make_indexed("broadcast",
                        {.labels = {std::get<Labels>(attributes.at("labels"))},
                         .rank = static_cast<int64_t>(shape.size()),
                         .shape = shape,
                         .body = bare_read(),
                         .result = types.front().element},
                        types, symbols);
}

}  // namespace

egraph::FamilyPtr broadcasts(Symbols symbols) {
    return family("broadcast", recognise_broadcast, make_broadcast, symbols);
}

std::vector<RuleEntry> broadcast_rules(const Families& families) {
    const auto broadcast = [&](const AttributePattern& labels, const AttributePattern& shape, Pattern x) {
        return apply(families.broadcast, {{"labels", labels}, {"shape", shape}}, {std::move(x)});
    };
    const auto t = [&](Pattern x) {
        return apply(families.transpose, {{"perm", bound("p")}}, {std::move(x)});
    };
    const auto unary = [&](Pattern x) { return any_unary(families, std::move(x)); };
    const Pattern a = hole("a");
    const auto labels = bound("labels"), shape = bound("shape");
    const auto below_transpose = computed([](const Match& m) -> Attribute {
        return permuted(m.attribute<Labels>("labels"), inverse(m.attribute<Permutation>("p")));
    });
    const auto behind_transpose = computed([](const Match& m) -> Attribute {
        return permuted(inverse(m.attribute<Permutation>("p")), m.attribute<Labels>("labels"));
    });
    const auto transposed_shape = computed([](const Match& m) -> Attribute {
        return permuted(m.attribute<Shape>("shape"), m.attribute<Permutation>("p"));
    });
    const auto both = computed([](const Match& m) -> Attribute {
        return permuted(m.attribute<Labels>("outer"), m.attribute<Labels>("labels"));
    });
    const auto matrix = row_major(ElementType::kF32, {Dim("T"), 3});
    const Attribute wide = Shape{3, 2, Dim("T")};
    return {
        {.rule = egraph::Rule({.name = "broadcast-of-transpose",
                               .from = broadcast(labels, shape, t(a)),
                               .to = broadcast(below_transpose, shape, a)}),
         .exactness = Exactness::kExact,
         .example =
             Example({{"a", matrix}}, {{"labels", Labels{0, 2}}, {"shape", wide}, {"p", Permutation{1, 0}}})},
        {.rule = egraph::Rule({.name = "transpose-of-broadcast",
                               .from = t(broadcast(labels, shape, a)),
                               .to = broadcast(behind_transpose, transposed_shape, a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", matrix}},
                            {{"labels", Labels{2, 0}}, {"shape", wide}, {"p", Permutation{1, 2, 0}}})},
        {.rule = egraph::Rule({.name = "fold-two-broadcasts",
                               .from = broadcast(bound("outer"), bound("all"), broadcast(labels, shape, a)),
                               .to = broadcast(both, bound("all"), a)}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", row_major(ElementType::kI8, {3})}}, {{"labels", Labels{1}},
                                                                        {"shape", Shape{Dim("T"), 3}},
                                                                        {"outer", Labels{2, 1}},
                                                                        {"all", Shape{2, 3, Dim("T")}}})},
        {.rule = egraph::Rule({.name = "unary-of-broadcast",
                               .from = unary(broadcast(labels, shape, a)),
                               .to = broadcast(labels, shape, unary(a))}),
         .exactness = Exactness::kExact,
         .example = Example(
             {{"a", matrix}},
             {{"labels", Labels{2, 0}}, {"shape", wide}, {"f", formula("tanh(X) + 1", 1)}, {"type", "f32"}})},
    };
}

}  // namespace tessera::rules
