// A slice takes every step-th element of each axis from a start on. Moving it before an element-wise operator
// saves the rest of the work.
#include "search/rules/algebra/families.h"
#include "search/rules/algebra/indexed.h"
#include "search/rules/algebra/map_forms.h"
#include "search/rules/algebra/permutation.h"
#include "support/checked.h"

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
using Numbers = std::vector<int64_t>;
using Shape = std::vector<Dim>;

/// True if elements start, start + step, .. of an axis exist, as many as `to` has: a read outside would give
/// 0. An axis whose extent is a symbol is taken whole.
bool is_inside(int64_t start, int64_t step, const Dim& to, const Dim& from) {
    if (start < 0 || step < 1) return false;
    if (to.symbol || from.symbol) return start == 0 && step == 1 && to == from;
    const auto last = checked_mul(step, to.factor - 1);
    const auto end = last ? checked_add(start, *last) : std::nullopt;
    return end && *end < from.factor;
}

std::optional<Attributes> recognise_slice(const Operator& op) {
    const auto renaming = recognise_renaming(op);
    if (!renaming || renaming->from.size() != renaming->to.size() || renaming->from == renaming->to)
        return {};
    Numbers start, step;
    for (size_t axis = 0; axis < renaming->map.size(); ++axis) {
        const QuasiAffine form = normal_form(*op.definition(), renaming->map[axis]);
        if (form.terms.size() > 1) return {};
        int64_t stride = 1;  // of an axis of one element: any
        if (!form.terms.empty()) {
            const QuasiTerm& term = form.terms.front();
            if (term.atom.kind != QuasiAtom::Kind::kIterator || term.atom.iterator != static_cast<int>(axis))
                return {};
            stride = term.coefficient;
        } else if (renaming->to[axis] != Dim(1)) {
            return {};
        }
        if (!is_inside(form.constant, stride, renaming->to[axis], renaming->from[axis])) return {};
        start.push_back(form.constant);
        step.push_back(stride);
    }
    return Attributes{{"start", start}, {"step", step}, {"shape", renaming->to}};
}

std::optional<Operator> make_slice(const Attributes& attributes, std::span<const TensorType> types,
                                   Symbols symbols) {
    const auto& start = std::get<Numbers>(attributes.at("start"));
    const auto& step = std::get<Numbers>(attributes.at("step"));
    const auto& shape = std::get<Shape>(attributes.at("shape"));
    if (types.size() != 1 || !types.front().layout.is_row_major() || shape.empty()) return {};
    const Shape& from = types.front().shape;
    if (from.size() != shape.size()) return {};
    std::vector<ExprPtr> map;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (!is_inside(start[axis], step[axis], shape[axis], from[axis])) return {};
        ExprPtr x = iterator_ref(static_cast<int>(axis));
        if (step[axis] != 1) x = tessera::apply(Function::kMul, {x, number(step[axis])});
        if (start[axis] != 0) x = tessera::apply(Function::kAdd, {x, number(start[axis])});
        map.push_back(std::move(x));
    }
    const bool is_copy = from == shape;
    Draft draft(is_copy ? "transpose" : "slice", symbols, types, shape);
    draft.add_iterators(shape);
    draft.add_operand(types.front().element, std::move(map), is_copy ? std::nullopt : std::optional(from));
    draft.set_result(types.front().element, shape);
    draft.definition.body = {draft.read_of(0)};
    return std::move(draft).finish();
}

}  // namespace

egraph::FamilyPtr slices(Symbols symbols) {
    return family("slice", recognise_slice, make_slice, symbols);
}

std::vector<RuleEntry> slice_rules(const Families& families) {
    const auto slice = [&](const AttributePattern& start, const AttributePattern& step,
                           const AttributePattern& shape, Pattern x) {
        return apply(families.slice, {{"start", start}, {"step", step}, {"shape", shape}}, {std::move(x)});
    };
    const auto start = bound("start"), step = bound("step"), shape = bound("shape");
    const auto sliced = [&](Pattern x) { return slice(start, step, shape, std::move(x)); };
    const auto t = [&](Pattern x) {
        return apply(families.transpose, {{"perm", bound("p")}}, {std::move(x)});
    };
    const auto unary = [&](Pattern x) { return any_unary(families, std::move(x)); };
    const auto binary = [&](Pattern x, Pattern z) {
        return any_binary(families, std::move(x), std::move(z));
    };
    // The slice (start, step) of the slice (first, by).
    const auto start_of_both = computed([](const Match& m) -> Attribute {
        Numbers result = m.attribute<Numbers>("first");
        for (size_t axis = 0; axis < result.size(); ++axis)
            result[axis] += m.attribute<Numbers>("by")[axis] * m.attribute<Numbers>("start")[axis];
        return result;
    });
    const auto step_of_both = computed([](const Match& m) -> Attribute {
        Numbers result = m.attribute<Numbers>("step");
        for (size_t axis = 0; axis < result.size(); ++axis) result[axis] *= m.attribute<Numbers>("by")[axis];
        return result;
    });
    // The entry of each axis of the operand, taken from the axis to which the transpose `p` brings it.
    const auto numbers_below = [](const std::string& name) {
        return computed([name](const Match& m) -> Attribute {
            return permuted(m.attribute<Numbers>(name), inverse(m.attribute<Permutation>("p")));
        });
    };
    const auto shape_below = computed([](const Match& m) -> Attribute {
        return permuted(m.attribute<Shape>("shape"), inverse(m.attribute<Permutation>("p")));
    });
    const Pattern a = hole("a"), b = hole("b");
    const Dim rows("T");
    const auto matrix = row_major(ElementType::kF32, {rows, 9}),
               half = row_major(ElementType::kF16, {rows, 9});
    const egraph::Attributes odd = {
        {"start", Numbers{0, 1}}, {"step", Numbers{1, 2}}, {"shape", Shape{rows, 3}}};
    const auto with = [&](egraph::Attributes more) {
        more.insert(odd.begin(), odd.end());
        return more;
    };
    return {
        {.rule = Rule({.name = "fold-two-slices",
                       .from = sliced(slice(bound("first"), bound("by"), bound("between"), a)),
                       .to = slice(start_of_both, step_of_both, shape, a)}),
         .exactness = Exactness::kExact,
         .example =
             Example({{"a", row_major(ElementType::kBF16, {rows, 20})}},
                     with({{"first", Numbers{0, 4}}, {"by", Numbers{1, 2}}, {"between", Shape{rows, 7}}}))},
        {.rule = Rule({.name = "slice-of-transpose",
                       .from = sliced(t(a)),
                       .to = t(slice(numbers_below("start"), numbers_below("step"), shape_below, a))}),
         .exactness = Exactness::kExact,
         .example =
             Example({{"a", row_major(ElementType::kI32, {9, rows})}}, with({{"p", Permutation{1, 0}}}))},
        {.rule = Rule({.name = "slice-of-unary", .from = sliced(unary(a)), .to = unary(sliced(a))}),
         .exactness = Exactness::kExact,
         .example = Example({{"a", matrix}}, with({{"f", formula("sqrt(abs(X))", 1)}, {"type", "f32"}}))},
        {.rule = Rule(
             {.name = "slice-of-binary", .from = sliced(binary(a, b)), .to = binary(sliced(a), sliced(b))}),
         .exactness = Exactness::kExact,
         .example =
             Example({{"a", matrix}, {"b", half}}, with({{"f", formula("X * 2 + Z", 2)}, {"type", "bf16"}}))},
    };
}

}  // namespace tessera::rules
