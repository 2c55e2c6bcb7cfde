#include "ir/facts/iteration_cases.h"

#include <algorithm>

#include "ir/facts/touched.h"

namespace tessera::facts {
namespace {

/// Combinations of iterators for which a case is decided one by one.
constexpr int64_t kCombinations = int64_t{1} << 20;
constexpr size_t kMostCases = 64;

ExprPtr both(const ExprPtr& a, const ExprPtr& b) {
    return a ? apply(Function::kAnd, {a, b}) : b;
}

// The expression with coordinates of index operands kept within their shapes: a case reads them in the whole
// box, but only the executed iterations are known to stay inside.
ExprPtr kept_inside(const BoundDefinition& bound, const ExprPtr& expr) {
    const auto all = [&](const std::vector<ExprPtr>& exprs) {
        std::vector<ExprPtr> kept;
        for (const ExprPtr& each : exprs) kept.push_back(kept_inside(bound, each));
        return kept;
    };
    if (const auto* a = std::get_if<Apply>(&expr->node)) return apply(a->function, all(a->arguments));
    const auto* r = std::get_if<Read>(&expr->node);
    if (!r) return expr;
    std::vector<ExprPtr> coordinates = all(r->coordinates);
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
        coordinates[axis] =
            apply(Function::kMin, {apply(Function::kMax, {coordinates[axis], number(int64_t{0})}),
                                   number(bound.shape(r->tensor)[axis] - 1)});
    return read(r->tensor, std::move(coordinates), false);
}

ExprPtr is_inside(const BoundDefinition& bound, const Read& read) {
    ExprPtr condition;
    for (size_t axis = 0; axis < read.coordinates.size(); ++axis) {
        const ExprPtr at = kept_inside(bound, read.coordinates[axis]);
        condition = both(condition, apply(Function::kGreaterEqual, {at, number(int64_t{0})}));
        condition = both(condition, apply(Function::kLess, {at, number(bound.shape(read.tensor)[axis])}));
    }
    return condition;
}

std::vector<int> iterators_as_numbers(const std::vector<ExprPtr>& expressions) {
    std::vector<int> found;
    for (const ExprPtr& expression : expressions)
        walk(expression, [&](const Expr& node) {
            if (const auto* i = std::get_if<IteratorRef>(&node.node)) found.push_back(i->index);
            return !std::holds_alternative<Read>(node.node);
        });
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// True if the case can be decided for every combination of the iterators that it needs.
bool can_decide(const BoundDefinition& bound, const ExprPtr& condition) {
    for (const Read& read : reads_in({condition}))
        if (bound.contents[static_cast<size_t>(read.tensor)].empty()) return false;
    int64_t combinations = 1;
    for (const int i : iterators_in(condition))
        if (__builtin_mul_overflow(combinations, bound.extents.iterators[static_cast<size_t>(i)],
                                   &combinations) ||
            combinations > kCombinations)
            return false;
    return true;
}

void divide(IterationCases& cases, const ExprPtr& condition) {
    IterationCases divided;
    for (std::unique_ptr<IterationCase>& known : cases) {
        const ExprPtr& where = known->bound.definition.where;
        if (divided.size() + 2 > kMostCases || !can_decide(known->bound, both(where, condition))) {
            divided.push_back(std::move(known));
            continue;
        }
        for (const ExprPtr& side : {condition, apply(Function::kNot, {condition})}) {
            BoundDefinition part = known->bound;
            part.definition.where = both(where, side);
            auto next = std::make_unique<IterationCase>(std::move(part));
            if (!next->executed.none()) divided.push_back(std::move(next));
        }
    }
    cases = std::move(divided);
}

}  // namespace

IterationCases iteration_cases(const BoundDefinition& bound, const std::vector<ExprPtr>& expressions) {
    IterationCases cases;
    cases.push_back(std::make_unique<IterationCase>(bound));
    if (cases[0]->executed.none()) return {};
    const ExecutedIterations executed(bound, whole_box(bound));
    for (const Read& read : reads_in(expressions))
        if (bound.tensor(read.tensor).role != Role::kIndex &&
            !stays_in_range(bound, executed, read.tensor, read.coordinates))
            divide(cases, is_inside(bound, read));
    for (const int x : iterators_as_numbers(expressions))
        if (bound.extents.iterators[static_cast<size_t>(x)] > 1)
            divide(cases, apply(Function::kGreater, {iterator_ref(x), number(int64_t{0})}));
    return cases;
}

}  // namespace tessera::facts
