// Micro-kernel `combine`: folds the workers' parts of a reduction into its result. With y_w the part of
// worker w, the identity if it had nothing to fold:
//
//   sum, prod, max, min:  y = post(y_0 + y_1 + ..), + the operation of the monoid
//   softmax_sum:          M = max_w M_w,  (L, A) = sum_w e^(M_w - M) (L_w, A_w)
//
// in the order of the workers, so that the result is the same every time.
#include <algorithm>
#include <array>

#include "ir/facts/parted_fold.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_types.h"
#include "lowering/leaf.h"
#include "lowering/refusal.h"

namespace tessera::kernels::combine {
namespace {

struct CombinePlan {
    int x = -1;
    int64_t lanes = 1;
    std::vector<int> parallel;  ///< without x
};

CombinePlan combine_plan(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    CombinePlan plan;
    plan.x = lowering::iterator_of_lanes(scope, parameter::kIteratorOfLanes, parameter::kLanes);
    plan.lanes = scope.leaf.number(parameter::kLanes);
    for (int i = 0; i < static_cast<int>(definition.iterators.size()); ++i) {
        if (!definition.iterators[static_cast<size_t>(i)].is_reduction) {
            if (i != plan.x) plan.parallel.push_back(i);
        } else if (i == plan.x) {
            throw lowering::Refused(scope.node.name, "x", "is a reduction, of which parts are left");
        }
    }
    return plan;
}

movement::ValuePtr accumulated(const std::string& name) {
    return std::make_shared<const movement::ValueExpr>(
        movement::ValueExpr{movement::AccumulatorRef{name, false}});
}

movement::ValuePtr loaded(movement::Address address, int64_t lane_stride) {
    movement::Load load;
    load.from = std::move(address);
    load.lane_stride = lane_stride;
    return std::make_shared<const movement::ValueExpr>(movement::ValueExpr{std::move(load)});
}

/// Folds over the workers.
class WorkerFold {
public:
    explicit WorkerFold(const lowering::LeafScope& scope)
        : scope_(scope), worker_({scope.names.fresh("part"), {0, scope.storage.input().plan.workers - 1}}) {}

    movement::Index worker() const { return movement::Index::variable(worker_); }

    /// The result as the worker has it.
    movement::ValuePtr part(int tensor, const std::vector<movement::Index>& iterators) const {
        const TensorDecl& result = scope_.node.definition()->tensors[static_cast<size_t>(tensor)];
        std::vector<movement::Index> at;
        for (const ExprPtr& c : result.map)
            at.push_back(lowering::to_index(c, scope_.node, iterators, scope_.storage));
        const lowering::LaneAddress split = lowering::split_lanes(
            scope_.storage.locate_part(lowering::value_of(scope_.node, tensor), at, worker()), scope_.node,
            result.name, false);
        return loaded(split.address, split.stride);
    }

    void each(movement::Statement statement, movement::Body& out) const {
        out.push_back({movement::For{worker_,
                                     movement::Index(0),
                                     movement::Index(scope_.storage.input().plan.workers),
                                     1,
                                     {std::move(statement)}}});
    }

    /// Declares `name` and folds `value` into it.
    void fold(const std::string& name, Monoid monoid, int64_t lanes, movement::ValuePtr value,
              movement::Body& out) const {
        out.push_back({movement::Declare{name, monoid, lanes}});
        each({movement::Accumulate{name, monoid, std::move(value), nullptr}}, out);
    }

private:
    const lowering::LeafScope& scope_;
    movement::Variable worker_;
};

movement::Body combined_fold(const lowering::LeafScope& scope, const CombinePlan& plan) {
    const Definition& definition = *scope.node.definition();
    const int result = definition.results().front();
    lowering::LeafLoops loops(scope, plan.parallel);
    lowering::ValueScope values{scope.node, scope.storage, loops.values(), 0, nullptr};
    std::optional<lowering::LaneLoop> lanes;
    if (plan.x >= 0) {
        lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
        values.iterators[static_cast<size_t>(plan.x)] = lanes->value;
    }
    const WorkerFold workers(scope);
    const std::string total = scope.names.fresh(std::string(name(definition.monoid)));
    movement::Body body;
    workers.fold(total, definition.monoid, plan.lanes, workers.part(result, values.iterators), body);
    values.folded = accumulated(total);
    body.push_back({lowering::store_to(
        result, definition.post ? lowering::to_value(definition.post, values) : values.folded, values)});
    return loops.around(lanes ? movement::Body{lanes->around(std::move(body))} : std::move(body));
}

movement::Body combined_softmax(const lowering::LeafScope& scope, const CombinePlan& plan) {
    const Definition& definition = *scope.node.definition();
    const std::vector<int> results = definition.results();
    const std::vector<int> once = iterators_in(definition.tensors[static_cast<size_t>(results[0])].map);
    const auto is_once = [&](int x) { return std::find(once.begin(), once.end(), x) != once.end(); };
    if (plan.x >= 0 && is_once(plan.x))
        throw lowering::Refused(scope.node.name, "x", "must be an iterator that the maximum does not use");
    std::vector<int> outer_loops, value_loops;
    for (const int x : plan.parallel) (is_once(x) ? outer_loops : value_loops).push_back(x);
    lowering::LeafLoops outer(scope, outer_loops), inner(scope, value_loops);
    lowering::ValueScope values{scope.node, scope.storage, outer.values(), 0, nullptr};
    const WorkerFold workers(scope);

    movement::Body body;
    const std::string largest = scope.names.fresh("max"), sum = scope.names.fresh("sum");
    workers.fold(largest, Monoid::kMax, 1, workers.part(results[0], values.iterators), body);
    body.push_back({lowering::store_to(results[0], accumulated(largest), values)});

    // If everything was masked there is nothing to weigh, and -inf - -inf would be NaN.
    const movement::ValuePtr masked = movement::apply_value(
        Function::kNegate, {std::make_shared<const movement::ValueExpr>(movement::ValueExpr{Infinity{}})});
    const movement::ValuePtr origin = movement::apply_value(
        Function::kSelect, {movement::apply_value(Function::kEqual, {accumulated(largest), masked}),
                            movement::number_value(0), accumulated(largest)});
    const std::string tile = scope.names.fresh("weights_of_" + scope.node.name);
    body.push_back({movement::LocalTile{tile, scope.storage.input().plan.workers}});
    workers.each(
        {movement::Store{
            {tile, workers.worker()},
            0,
            movement::apply_value(
                Function::kExp, {movement::apply_value(
                                    Function::kSub, {workers.part(results[0], values.iterators), origin})})}},
        body);
    const movement::ValuePtr weight = loaded({tile, workers.worker()}, 0);
    const auto weighted = [&](int tensor) {
        return movement::apply_value(Function::kMul, {workers.part(tensor, values.iterators), weight});
    };
    workers.fold(sum, Monoid::kSum, 1, weighted(results[1]), body);
    body.push_back({lowering::store_to(results[1], accumulated(sum), values)});

    for (const int x : value_loops)
        values.iterators[static_cast<size_t>(x)] = inner.values()[static_cast<size_t>(x)];
    std::optional<lowering::LaneLoop> lanes;
    if (plan.x >= 0) {
        lanes = lowering::lane_loop(scope, plan.x, plan.lanes);
        values.iterators[static_cast<size_t>(plan.x)] = lanes->value;
    }
    const std::string total = scope.names.fresh("sum");
    movement::Body elements;
    workers.fold(total, Monoid::kSum, plan.lanes, weighted(results[2]), elements);
    elements.push_back({lowering::store_to(results[2], accumulated(total), values)});
    if (lanes) elements = movement::Body{lanes->around(std::move(elements))};
    for (movement::Statement& s : inner.around(std::move(elements))) body.push_back(std::move(s));
    return outer.around(std::move(body));
}

movement::Body lower(const lowering::LeafScope& scope) {
    const CombinePlan plan = combine_plan(scope);
    return scope.node.definition()->monoid == Monoid::kSoftmaxSum ? combined_softmax(scope, plan)
                                                                  : combined_fold(scope, plan);
}

/// Lanes along the iterator along which the last result lies.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    const Definition& definition = scope.definition();
    const auto& map = definition.tensors[static_cast<size_t>(definition.results().back())].map;
    const auto* last = map.empty() ? nullptr : std::get_if<IteratorRef>(&map.back()->node);
    for (int64_t lanes = scope.target.lanes; last && lanes > 1; lanes /= 2) {
        plan::Leaf leaf = scope.leaf();
        leaf.set(parameter::kIteratorOfLanes, scope.name(last->index)).set(parameter::kLanes, lanes);
        out.push_back({std::move(leaf), lanes});
    }
    out.push_back({scope.leaf()});
}

constexpr std::array kParameters = {parameter::kIteratorOfLanes, parameter::kLanes};
constexpr std::array kResults = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};

}  // namespace
}  // namespace tessera::kernels::combine

namespace tessera::kernels {

extern const plan::MicroKernel kCombine;
constinit const plan::MicroKernel kCombine{
    .name = "combine",
    .summary = "what the workers have folded of a reduction that is divided between them",
    .implements = "any fold, from what the workers have folded",
    .parameters = combine::kParameters,
    .results = combine::kResults,
    .combines_parts = true,
    .is_listed = false,
    .lanes = {&parameter::kIteratorOfLanes, &parameter::kLanes},
    .why_not = facts::why_not_parted,
    .candidates = combine::candidates,
    .lower = combine::lower,
    .streamed = streamed_values};

}  // namespace tessera::kernels
