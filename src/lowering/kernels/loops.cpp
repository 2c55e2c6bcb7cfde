// Micro-kernel `loops`: any definition as plain loops, with the lanes of a vector along one iterator.
//
//   map or parallel lanes:   for every element, a group of lanes at a time: fold over the reductions, store
//   lanes along a reduction: for every element: fold groups of lanes, then fold the lanes, store
//   softmax_sum:             the maximum, then the sum of weights, then the weighted sum, each a reduction of
//   its own
//   recurrences:             recurrence_loops.h
#include <algorithm>
#include <array>

#include "ir/injectivity.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/recurrence_loops.h"
#include "lowering/leaf.h"
#include "lowering/refusal.h"

namespace tessera::kernels::loops {
namespace {

struct LoopPlan {
    std::vector<int> parallel;    ///< without the vectorised one
    std::vector<int> reductions;  ///< likewise
    int x = -1;
    int64_t lanes = 1;
    bool x_is_reduction = false;
};

LoopPlan loop_plan(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    LoopPlan plan;
    plan.x = lowering::iterator_of_lanes(scope, parameter::kIteratorOfLanes, parameter::kLanes);
    plan.lanes = scope.leaf.number(parameter::kLanes);
    for (int i = 0; i < static_cast<int>(definition.iterators.size()); ++i) {
        const bool is_reduction = definition.iterators[static_cast<size_t>(i)].is_reduction;
        if (i == plan.x) {
            plan.x_is_reduction = is_reduction;
        } else {
            (is_reduction ? plan.reductions : plan.parallel).push_back(i);
        }
    }
    return plan;
}

movement::ValuePtr accumulated(const std::string& name, bool fold_lanes) {
    return std::make_shared<const movement::ValueExpr>(
        movement::ValueExpr{movement::AccumulatorRef{name, fold_lanes}});
}

movement::ValuePtr predicate(const lowering::ValueScope& values) {
    const ExprPtr& where = values.node.definition()->where;
    return where ? lowering::to_value(where, values) : nullptr;
}

/// A statement under a condition that is one for all lanes.
movement::Body guarded(movement::Statement statement, const movement::ValuePtr& condition, const Node& node) {
    if (!condition) return {std::move(statement)};
    if (lowering::has_lanes(*condition)) {
        throw lowering::Refused(node.name, "where", "differs between the lanes of a store",
                                "choose another iterator for the lanes, or scalars");
    }
    return {{movement::If{condition, {std::move(statement)}}}};
}

movement::Body lower_map(const lowering::LeafScope& scope, const LoopPlan& plan) {
    const Definition& definition = *scope.node.definition();
    lowering::LeafLoops loops(scope, plan.parallel);
    lowering::ValueScope values{scope.node, scope.storage, loops.values(), 0, nullptr};
    const int result = definition.results().front();
    const auto stored = [&] {
        return guarded(
            {lowering::store_to(result, lowering::to_value(definition.body.front(), values), values)},
            predicate(values), scope.node);
    };
    if (plan.x < 0) return loops.around(stored());
    const lowering::LaneLoop lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
    values.iterators[static_cast<size_t>(plan.x)] = lanes.value;
    return loops.around({lanes.around(stored())});
}

/// A result that a reduction iterator indexes indirectly: every iteration folds into memory.
movement::Body lower_scatter(const lowering::LeafScope& scope, const LoopPlan& plan) {
    const Definition& definition = *scope.node.definition();
    std::vector<int> order = plan.reductions;
    order.insert(order.end(), plan.parallel.begin(), plan.parallel.end());
    lowering::LeafLoops loops(scope, order);
    lowering::ValueScope values{scope.node, scope.storage, loops.values(), identity(definition.monoid),
                                nullptr};
    const int result = definition.results().front();
    const auto folded = [&] {
        const Function fold = definition.monoid == Monoid::kSum    ? Function::kAdd
                              : definition.monoid == Monoid::kProd ? Function::kMul
                              : definition.monoid == Monoid::kMax  ? Function::kMax
                                                                   : Function::kMin;
        movement::ValuePtr value = movement::apply_value(
            fold,
            {lowering::load_result(result, values), lowering::to_value(definition.body.front(), values)});
        return guarded({lowering::store_to(result, std::move(value), values)}, predicate(values), scope.node);
    };
    if (plan.x < 0) return loops.around(folded());
    if (plan.x_is_reduction)
        throw lowering::Refused(scope.node.name, "x", "indexes a result indirectly, so it cannot have lanes");
    const lowering::LaneLoop lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
    values.iterators[static_cast<size_t>(plan.x)] = lanes.value;
    return loops.around({lanes.around(folded())});
}

movement::Body lower_reduction(const lowering::LeafScope& scope, const LoopPlan& plan) {
    const Definition& definition = *scope.node.definition();
    const int result = definition.results().front();
    const bool starts_from_result =
        scope.is_partial || definition.tensors[static_cast<size_t>(result)].role == Role::kUpdate;
    lowering::LeafLoops outer(scope, plan.parallel);
    lowering::LeafLoops inner(scope, plan.reductions);
    std::vector<movement::Index> at = outer.values();
    for (const int r : plan.reductions) at[static_cast<size_t>(r)] = inner.values()[static_cast<size_t>(r)];
    lowering::ValueScope values{scope.node, scope.storage, std::move(at), identity(definition.monoid),
                                nullptr};

    const std::string sum = scope.names.fresh(std::string(name(definition.monoid)));
    const bool lanes_are_folded = plan.x >= 0 && plan.x_is_reduction;
    const bool has_vector = plan.x >= 0 && plan.lanes > 1;
    const auto finish = [&](const lowering::ValueScope& at_result) {
        lowering::ValueScope post = at_result;
        post.outside = 0;
        movement::ValuePtr total = accumulated(sum, lanes_are_folded && has_vector);
        if (starts_from_result && lanes_are_folded) {
            const Function fold = definition.monoid == Monoid::kSum    ? Function::kAdd
                                  : definition.monoid == Monoid::kProd ? Function::kMul
                                  : definition.monoid == Monoid::kMax  ? Function::kMax
                                                                       : Function::kMin;
            total = movement::apply_value(fold, {lowering::load_result(result, at_result), total});
        }
        post.folded = total;
        return lowering::store_to(
            result, definition.post && !scope.is_partial ? lowering::to_value(definition.post, post) : total,
            post);
    };

    movement::Body body;
    body.push_back({movement::Declare{sum, definition.monoid, has_vector ? plan.lanes : 1}});
    if (!lanes_are_folded) {
        std::optional<lowering::LaneLoop> lanes;
        if (plan.x >= 0) {
            lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
            values.iterators[static_cast<size_t>(plan.x)] = lanes->value;
        }
        if (starts_from_result)
            body.push_back({movement::Accumulate{sum, definition.monoid,
                                                 lowering::load_result(result, values), nullptr}});
        const movement::ValuePtr value = lowering::to_value(definition.body.front(), values);
        for (movement::Statement& s :
             inner.around({{movement::Accumulate{sum, definition.monoid, value, predicate(values)}}})) {
            body.push_back(std::move(s));
        }
        body.push_back({finish(values)});
        return outer.around(lanes ? movement::Body{lanes->around(std::move(body))} : std::move(body));
    }
    const lowering::LaneLoop lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
    lowering::ValueScope in_lanes = values;
    in_lanes.iterators[static_cast<size_t>(plan.x)] = lanes.value;
    const movement::ValuePtr value = lowering::to_value(definition.body.front(), in_lanes);
    for (movement::Statement& s : inner.around(
             {lanes.around({{movement::Accumulate{sum, definition.monoid, value, predicate(in_lanes)}}})})) {
        body.push_back(std::move(s));
    }
    body.push_back({finish(values)});
    return outer.around(std::move(body));
}

movement::Body lower_softmax(const lowering::LeafScope& scope, const LoopPlan& plan) {
    const Definition& definition = *scope.node.definition();
    if (scope.is_partial) {
        throw lowering::Refused(scope.node.name, "loops",
                                "cannot fold a softmax into what earlier tiles left",
                                "use the micro-kernel stream, or leave the reduction whole");
    }
    const std::vector<int> results = definition.results();
    const std::vector<int> once = [&] {
        std::vector<int> used;
        for (const ExprPtr& c : definition.tensors[static_cast<size_t>(results[0])].map) {
            for (const int x : iterators_in(c)) used.push_back(x);
        }
        return used;
    }();
    const auto is_once = [&](int x) { return std::find(once.begin(), once.end(), x) != once.end(); };
    if (plan.x >= 0 && (plan.x_is_reduction || is_once(plan.x))) {
        throw lowering::Refused(scope.node.name, "x", "must be an iterator that the maximum does not use");
    }
    std::vector<int> outer_loops, value_loops;
    for (const int x : plan.parallel) (is_once(x) ? outer_loops : value_loops).push_back(x);

    lowering::LeafLoops outer(scope, outer_loops);
    movement::Body body;
    const double minus_infinity = identity(Monoid::kMax);
    /// One fold over the reductions; `value` sees the iterators of one iteration.
    const auto fold = [&](Monoid monoid, int tensor, const std::vector<int>& loops, bool vectorised,
                          double outside, const auto& value, const auto& condition) {
        lowering::LeafLoops elements(scope, loops);
        lowering::LeafLoops inner(scope, plan.reductions);
        std::vector<movement::Index> at = outer.values();
        for (const int x : loops) at[static_cast<size_t>(x)] = elements.values()[static_cast<size_t>(x)];
        for (const int x : plan.reductions)
            at[static_cast<size_t>(x)] = inner.values()[static_cast<size_t>(x)];
        lowering::ValueScope values{scope.node, scope.storage, std::move(at), outside, nullptr};
        std::optional<lowering::LaneLoop> lanes;
        if (vectorised && plan.x >= 0) {
            lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
            values.iterators[static_cast<size_t>(plan.x)] = lanes->value;
        }
        const std::string name_of_fold = scope.names.fresh(std::string(name(monoid)));
        movement::Body part;
        part.push_back({movement::Declare{name_of_fold, monoid, lanes ? plan.lanes : 1}});
        for (movement::Statement& s :
             inner.around({{movement::Accumulate{name_of_fold, monoid, value(values), condition(values)}}})) {
            part.push_back(std::move(s));
        }
        part.push_back({lowering::store_to(tensor, accumulated(name_of_fold, false), values)});
        if (lanes) part = movement::Body{lanes->around(std::move(part))};
        for (movement::Statement& s : elements.around(std::move(part))) body.push_back(std::move(s));
    };
    const auto score = [&](const lowering::ValueScope& values) {
        lowering::ValueScope at = values;
        at.outside = minus_infinity;
        return lowering::to_value(definition.body[0], at);
    };
    const auto weight = [&](const lowering::ValueScope& values) {
        movement::ValuePtr below =
            movement::apply_value(Function::kSub, {score(values), lowering::load_result(results[0], values)});
        return movement::apply_value(Function::kExp, {std::move(below)});
    };
    // A score of -inf leaves its iteration out, as the predicate does.
    const auto has_weight = [&](const lowering::ValueScope& values) {
        movement::ValuePtr is_finite = movement::apply_value(
            Function::kNotEqual, {score(values), movement::number_value(minus_infinity)});
        movement::ValuePtr where = predicate(values);
        return where ? movement::apply_value(Function::kAnd, {std::move(where), std::move(is_finite)})
                     : is_finite;
    };
    fold(Monoid::kMax, results[0], {}, false, minus_infinity, score, predicate);
    fold(Monoid::kSum, results[1], {}, false, 0, weight, has_weight);
    const auto weighted = [&](const lowering::ValueScope& values) {
        return movement::apply_value(Function::kMul,
                                     {movement::rounded_value(definition.weights, weight(values)),
                                      lowering::to_value(definition.body[1], values)});
    };
    fold(Monoid::kSum, results[2], value_loops, true, 0, weighted, has_weight);
    return outer.around(std::move(body));
}

movement::Body lower(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const LoopPlan plan = loop_plan(scope);
    if (definition.is_recurrence()) return lower_recurrence(scope, plan.x, plan.lanes);
    if (definition.monoid == Monoid::kSoftmaxSum) return lower_softmax(scope, plan);
    if (definition.monoid == Monoid::kNone) return lower_map(scope, plan);
    return sets_all_elements(definition) ? lower_reduction(scope, plan) : lower_scatter(scope, plan);
}

/// The number of tensors along whose last axis the iterator runs, one element a step, as row-major lanes need
/// it. A tensor counts by its rank, as a measure of its size.
int contiguous_tensors(const Definition& definition, int x) {
    int count = 0;
    for (int t = 0; t < static_cast<int>(definition.tensors.size()); ++t) {
        if (definition.tensors[static_cast<size_t>(t)].role == Role::kIndex) continue;
        for (const auto& access : accesses(definition, t)) {
            const auto* last = access.empty() ? nullptr : std::get_if<IteratorRef>(&access.back()->node);
            if (last && last->index == x) count += static_cast<int>(access.size());
        }
    }
    return count;
}

/// Lanes of several registers, where the leaf has those of one along a reduction: several sums go on side by
/// side, so that none waits for its last addition. Their lanes must divide the iterator: the rest would be
/// folded in part of a group.
std::vector<plan::Leaf> wider_folds(const Definition& definition, const plan::Leaf& leaf,
                                    int64_t lanes_of_a_register) {
    const int x = plan::iterator_of(definition, leaf, parameter::kIteratorOfLanes);
    if (definition.is_recurrence() || x < 0 || leaf.number(parameter::kLanes) != lanes_of_a_register)
        return {};
    const Iterator& iterator = definition.iterators[static_cast<size_t>(x)];
    const auto* extent = std::get_if<Number>(&iterator.extent->node);
    if (!iterator.is_reduction || !extent) return {};
    std::vector<plan::Leaf> found;
    for (const int64_t several : {2 * lanes_of_a_register, 4 * lanes_of_a_register})
        if (several <= movement::kMostLanes && static_cast<int64_t>(extent->value) % several == 0)
            found.push_back(plan::Leaf(leaf).set(parameter::kLanes, several));
    return found;
}

/// Lanes along the iterator along which most lies side by side; scalars at last.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    const Definition& d = scope.definition();
    if (d.is_wide()) return out.push_back({scope.leaf()});  // numbers of 64 bits have no lanes
    std::vector<int> order;
    for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x)
        if (contiguous_tensors(d, x) > 0 && (!d.is_recurrence() || may_have_lanes(d, x))) order.push_back(x);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return contiguous_tensors(d, a) > contiguous_tensors(d, b); });
    for (const int x : order) {
        const int64_t most = d.is_recurrence()
                                 ? lanes_of_recurrence(d, x, scope.target.lanes, scope.extent(x))
                                 : scope.target.lanes;
        for (int64_t lanes = most; lanes > 1; lanes /= 2) {
            const plan::Leaf leaf =
                scope.leaf().set(parameter::kIteratorOfLanes, scope.name(x)).set(parameter::kLanes, lanes);
            out.push_back({leaf});
            for (plan::Leaf& wider : wider_folds(d, leaf, scope.target.lanes))
                out.push_back({std::move(wider)});
        }
    }
    out.push_back({scope.leaf()});
}

std::string why_not(const Definition& definition) {
    if (definition.is_recurrence()) return "";
    const bool is_scatter = definition.monoid != Monoid::kNone && !sets_all_elements(definition);
    return is_scatter && definition.post ? "a post-expression of a result that a reduction indexes "
                                           "indirectly is not supported in this version"
                                         : "";
}

constexpr std::array kParameters = {parameter::kIteratorOfLanes, parameter::kLanes};
constexpr std::array kResults = {ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kI8,
                                 ElementType::kI32};

}  // namespace
}  // namespace tessera::kernels::loops

namespace tessera::kernels {

extern const plan::MicroKernel kLoops;
constinit const plan::MicroKernel kLoops{
    .name = "loops",
    .summary = "plain loops over the body, with lanes along iterator x",
    .implements = "any operator; lanes of several registers along a reduction are sums side by side",
    .parameters = loops::kParameters,
    .results = loops::kResults,
    .tiles_reductions = true,
    .is_plain = true,
    .lanes = {&parameter::kIteratorOfLanes, &parameter::kLanes},
    .why_not = loops::why_not,
    .candidates = loops::candidates,
    .alternatives = loops::wider_folds,
    .lower = loops::lower,
    .streamed = streamed_values};

}  // namespace tessera::kernels
