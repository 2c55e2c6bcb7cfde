// The concatenation of two tensors along an axis is one map that selects:
//
//     op concat(i0: T, i1: 7)
//     in X0 f32[i0, i1] of [T, 4]
//     in X1 f32[i0, i1 - 4] of [T, 3]
//     out Y f32[i0, i1] = select(i1 < 4, X0, X1)
#include "ir/result_type.h"
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/map_forms.h"
#include "search/rules/algebra/permutation.h"

namespace tessera::rules {
namespace {

using egraph::apply;
using egraph::Attribute;
using egraph::AttributePattern;
using egraph::Attributes;
using egraph::bound;
using egraph::computed;
using egraph::EGraph;
using egraph::hole;
using egraph::Match;
using egraph::Operator;
using egraph::Pattern;
using egraph::Rule;
using Numbers = std::vector<int64_t>;
using Shape = std::vector<Dim>;

/// The shape of the concatenation; empty if the types have none.
std::optional<Shape> joined(std::span<const TensorType> types, int64_t axis) {
    if (types.size() != 2 || types[0].element != types[1].element) return {};
    Shape shape = types[0].shape, other = types[1].shape;
    if (axis < 0 || axis >= std::ssize(shape) || shape.size() != other.size()) return {};
    Dim &extent = shape[static_cast<size_t>(axis)], &more = other[static_cast<size_t>(axis)];
    if (extent.symbol || more.symbol) return {};
    extent.factor += more.factor;
    more = extent;
    if (shape != other || !types[0].layout.is_row_major() || !types[1].layout.is_row_major()) return {};
    return shape;
}

std::optional<Operator> make_concat(const Attributes& attributes, std::span<const TensorType> types,
                                    Symbols symbols) {
    const int64_t axis = std::get<int64_t>(attributes.at("axis"));
    const auto shape = joined(types, axis);
    if (!shape) return {};
    const int64_t first = types[0].shape[static_cast<size_t>(axis)].factor;
    Draft draft("concat", symbols, types, *shape);
    draft.add_iterators(*shape);
    draft.add_operand(types[0].element, straight_map(shape->size()), types[0].shape);
    std::vector<ExprPtr> behind = straight_map(shape->size());
    const ExprPtr along = behind[static_cast<size_t>(axis)];
    behind[static_cast<size_t>(axis)] = tessera::apply(Function::kSub, {along, number(first)});
    draft.add_operand(types[1].element, std::move(behind), types[1].shape);
    draft.set_result(types[0].element, *shape);
    draft.definition.body = {tessera::apply(
        Function::kSelect,
        {tessera::apply(Function::kLess, {along, number(first)}), draft.read_of(0), draft.read_of(1)})};
    return std::move(draft).finish();
}

/// The axis of `i < first`, an iterator less than a number.
std::optional<int64_t> axis_of(const ExprPtr& condition) {
    const auto* less = std::get_if<Apply>(&condition->node);
    if (!less || less->function != Function::kLess) return {};
    const auto* x = std::get_if<IteratorRef>(&less->arguments[0]->node);
    if (!x) return {};
    return x->index;
}

std::optional<Attributes> recognise_concat(const Operator& op, Symbols symbols) {
    const Definition* d = op.definition();
    if (!d || op.updates || d->monoid != Monoid::kNone || d->tensors.size() != 3) return {};
    const auto* choice = std::get_if<Apply>(&d->body.front()->node);
    if (!choice || choice->function != Function::kSelect) return {};
    const auto axis = axis_of(choice->arguments.front());
    const auto first = shape_of(*d, 0), second = shape_of(*d, 1);
    if (!axis || !first || !second) return {};
    // The operator must equal the concatenation that is made for operands of these types.
    const std::vector<TensorType> types = {row_major(d->tensors[0].type, *first),
                                           row_major(d->tensors[1].type, *second)};
    const Attributes attributes = {{"axis", *axis}};
    auto same_as = make_concat(attributes, types, symbols);
    if (!same_as || same_as->results.front().shape != op.results.front().shape) return {};
    same_as->results = op.results;
    Definition named = *same_as->definition();  // bounds of dims may be wider than those of the graph
    named.dims = d->dims;
    same_as->what = std::make_shared<const Definition>(std::move(named));
    if (egraph::key(*same_as) != egraph::key(op)) return {};
    return Attributes{{"axis", *axis}, {"first", (*first)[static_cast<size_t>(*axis)].factor}};
}

enum class Part { kFirst, kSecond };

/// True if the slice of the concatenation lies in one of its parts.
bool is_within(const Match& m, Part part) {
    const auto axis = static_cast<size_t>(m.attribute<int64_t>("axis"));
    const int64_t first = m.attribute<int64_t>("first"), start = m.attribute<Numbers>("start")[axis];
    const Dim& extent = m.attribute<Shape>("shape")[axis];
    const int64_t last = start + m.attribute<Numbers>("step")[axis] * (extent.factor - 1);
    return part == Part::kFirst ? last < first : start >= first;
}

}  // namespace

egraph::FamilyPtr concats(Symbols symbols) {
    const std::vector<DimSymbol> all(symbols.begin(), symbols.end());
    return std::make_shared<egraph::OperatorFamily>(egraph::OperatorFamily{
        .name = "concat",
        .recognise = [all](const Operator& op) { return recognise_concat(op, all); },
        .make = [all](const Attributes& attributes,
                      std::span<const TensorType> types) { return make_concat(attributes, types, all); }});
}

std::vector<RuleEntry> concat_rules(const Families& families) {
    const auto concat = [&](const AttributePattern& axis, Pattern x, Pattern z) {
        return apply(families.concat, {{"axis", axis}, {"first", bound("first")}},
                     {std::move(x), std::move(z)});
    };
    const auto t = [&](Pattern x) {
        return apply(families.transpose, {{"perm", bound("p")}}, {std::move(x)});
    };
    const auto slice = [&](const AttributePattern& start, Pattern x) {
        return apply(families.slice, {{"start", start}, {"step", bound("step")}, {"shape", bound("shape")}},
                     {std::move(x)});
    };
    const auto axis_below = computed([](const Match& m) -> Attribute {
        return m.attribute<Permutation>("p")[static_cast<size_t>(m.attribute<int64_t>("axis"))];
    });
    const auto start_behind = computed([](const Match& m) -> Attribute {
        Numbers start = m.attribute<Numbers>("start");
        start[static_cast<size_t>(m.attribute<int64_t>("axis"))] -= m.attribute<int64_t>("first");
        return start;
    });
    const auto within = [](Part part) {
        return [part](const EGraph&, const Match& m) { return is_within(m, part); };
    };
    const Pattern a = hole("a"), b = hole("b");
    const auto axis = bound("axis"), start = bound("start");
    const Dim rows("T");
    const auto left = row_major(ElementType::kF16, {rows, 4}),
               right = row_major(ElementType::kF16, {rows, 3});
    const auto taken = [&](int64_t from) {
        return Example({{"a", left}, {"b", right}}, {{"axis", int64_t{1}},
                                                     {"first", int64_t{4}},
                                                     {"start", Numbers{0, from}},
                                                     {"step", Numbers{1, 1}},
                                                     {"shape", Shape{rows, 2}}});
    };
    return {
        {.rule = Rule({.name = "concat-of-transposes",
                       .from = concat(axis, t(a), t(b)),
                       .to = t(apply(families.concat, {{"axis", axis_below}}, {a, b}))}),
         .exactness = Exactness::kExact,
         .example = Example(
             {{"a", row_major(ElementType::kF32, {4, rows})}, {"b", row_major(ElementType::kF32, {3, rows})}},
             {{"axis", int64_t{1}}, {"first", int64_t{4}}, {"p", Permutation{1, 0}}})},
        {.rule = Rule({.name = "slice-of-first-part",
                       .from = slice(start, concat(axis, a, b)),
                       .to = slice(start, a),
                       .condition = within(Part::kFirst)}),
         .exactness = Exactness::kExact,
         .example = taken(1)},
        {.rule = Rule({.name = "slice-of-second-part",
                       .from = slice(start, concat(axis, a, b)),
                       .to = slice(start_behind, b),
                       .condition = within(Part::kSecond)}),
         .exactness = Exactness::kExact,
         .example = taken(5)},
    };
}

}  // namespace tessera::rules
