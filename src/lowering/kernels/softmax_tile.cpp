#include "lowering/kernels/softmax_tile.h"

#include <algorithm>
#include <utility>

#include "ir/iterator_use.h"
#include "lowering/kernels/call_text.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_meaning.h"
#include "lowering/refusal.h"

namespace tessera::kernels {
namespace {

constexpr int64_t kLargestTile = 1 << 14;  // elements; it lives on the stack

struct SoftmaxRoles {
    int m, s, d;
    std::vector<int> others;
};

SoftmaxRoles roles_of(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    SoftmaxRoles roles{lowering::iterator_parameter(scope, parameter::kRowsOfStream),
                       -1,
                       lowering::iterator_parameter(scope, parameter::kValues),
                       {}};
    if (roles.d < 0)
        throw lowering::Refused(scope.node.name, "stream",
                                "needs d=ITERATOR, the iterator of the values alone");
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
        if (x == roles.m || x == roles.d) continue;
        if (!definition.iterators[static_cast<size_t>(x)].is_reduction) {
            roles.others.push_back(x);
        } else if (std::exchange(roles.s, x) >= 0) {
            throw lowering::Refused(scope.node.name, "stream",
                                    "folds over one reduction iterator, and there are more");
        }
    }
    if (roles.s < 0) throw lowering::Refused(scope.node.name, "stream", "has no reduction iterator");
    for (const ExprPtr& c : definition.tensors[static_cast<size_t>(definition.results()[0])].map) {
        if (uses(c, roles.d))
            throw lowering::Refused(scope.node.name, "d",
                                    "must be an iterator that the maximum does not use");
    }
    return roles;
}

}  // namespace

/// for m: {
///     largest = max(max[m], scores[m, s]); origin = largest, 0 where everything is masked
///     factor = e^(max[m] - origin); max[m] = largest
///     for s: scores[m, s] = e^(scores[m, s] - origin), -1 where it is masked
///     sum[m] = sum[m] * factor + sum of scores[m, s] >= 0
///     for lanes d: result[m, d] = result[m, d] * factor + sum of rounded(scores[m, s]) * V[s, d], for the
///     same s }
movement::Body softmax_meaning(const SoftmaxCall& c) {
    constexpr const char *kLargest = "call.max", *kOrigin = "call.origin", *kFactor = "call.factor",
                         *kSum = "call.sum", *kValues = "call.values";
    const movement::Variable m = meaning_variable("m", c.m), s = meaning_variable("s", c.s),
                             d = meaning_variable("d", c.d, c.lanes);
    const movement::Index row = movement::Index::variable(m),
                          group = movement::floor_div(movement::Index::variable(d), c.lanes);
    const movement::Address max = moved(c.max, row), sum = moved(c.sum, row);
    const movement::Address result = moved(c.result, row * c.result_m + group * c.result_group);
    const movement::Address score =
        moved(c.scores, row * movement::Index(c.scores_stride) + movement::Index::variable(s));
    const auto over_s = [&](movement::Statement statement) {
        return movement::Statement{movement::For{s, movement::Index(0), c.s, 1, {std::move(statement)}}};
    };
    const auto accumulated = [](const char* name, Monoid monoid, movement::ValuePtr value,
                                movement::ValuePtr condition = nullptr) {
        return movement::Statement{
            movement::Accumulate{name, monoid, std::move(value), std::move(condition)}};
    };
    const auto product = [](movement::ValuePtr a, movement::ValuePtr b) {
        return movement::apply_value(Function::kMul, {std::move(a), std::move(b)});
    };
    const auto below_origin = [&](movement::ValuePtr value) {
        return movement::apply_value(
            Function::kExp,
            {movement::apply_value(Function::kSub, {std::move(value), accumulator_value(kOrigin)})});
    };
    const movement::ValuePtr masked = movement::apply_value(
        Function::kNegate, {std::make_shared<const movement::ValueExpr>(movement::ValueExpr{Infinity{}})});
    const auto unless_masked = [&](movement::ValuePtr score_or_maximum, double otherwise,
                                   movement::ValuePtr value) {
        return movement::apply_value(
            Function::kSelect,
            {movement::apply_value(Function::kEqual, {std::move(score_or_maximum), masked}),
             movement::number_value(otherwise), std::move(value)});
    };
    const movement::ValuePtr origin =
        unless_masked(accumulator_value(kLargest), 0, accumulator_value(kLargest));
    // A weight that is NaN counts.
    const movement::ValuePtr is_executed = movement::apply_value(
        Function::kNot,
        {movement::apply_value(Function::kLess, {load_value(score), movement::number_value(0)})});
    movement::Body rows = {
        {movement::Declare{kLargest, Monoid::kMax}},
        accumulated(kLargest, Monoid::kMax, load_value(max)),
        over_s(accumulated(kLargest, Monoid::kMax, load_value(score))),
        {movement::Declare{kOrigin, Monoid::kSum}},
        accumulated(kOrigin, Monoid::kSum, origin),
        {movement::Declare{kFactor, Monoid::kSum}},
        accumulated(kFactor, Monoid::kSum, below_origin(load_value(max))),
        {movement::Store{max, 0, accumulator_value(kLargest)}},
        over_s({movement::Store{score, 0,
                                unless_masked(load_value(score), -1, below_origin(load_value(score)))}}),
        {movement::Declare{kSum, Monoid::kSum}},
        accumulated(kSum, Monoid::kSum, product(load_value(sum), accumulator_value(kFactor))),
        over_s(accumulated(kSum, Monoid::kSum, load_value(score), is_executed)),
        {movement::Store{sum, 0, accumulator_value(kSum)}}};
    movement::Body values = {
        {movement::Declare{kValues, Monoid::kSum, c.lanes}},
        accumulated(kValues, Monoid::kSum, product(load_value(result, 1), accumulator_value(kFactor))),
        over_s(accumulated(kValues, Monoid::kSum,
                           product(movement::rounded_value(c.weights, load_value(score)),
                                   factor_value(c.v, group, movement::Index::variable(s))),
                           is_executed)),
        {movement::Store{result, 1, accumulator_value(kValues)}}};
    rows.push_back({movement::VectorFor{d, movement::Index(0), c.d, c.lanes, std::move(values)}});
    return {{movement::For{m, movement::Index(0), c.m, 1, std::move(rows)}}};
}

void spell_softmax(const SoftmaxCall& c, CallText& out) {
    out.line(fmt::format("    {}, {}, {}, {}, {},", out.shared_extent(c.m), out.text(c.s),
                         out.shared_extent(c.d), out.address(c.scores),
                         out.fixed(movement::Index(c.scores_stride))));
    out.factor(c.v, c.lanes, kFactorInLanes);
    out.line(fmt::format("    ntt::softmax_state({}, {}, {}, {}, {}));", out.address(c.max),
                         out.address(c.sum), out.address(c.result), out.fixed(c.result_m),
                         out.fixed(c.result_group)));
}

movement::Body lower_softmax_tile(const lowering::LeafScope& scope,
                                  const std::function<movement::Call(SoftmaxCall, const Read&)>& make) {
    const Definition& definition = *scope.node.definition();
    const SoftmaxRoles roles = roles_of(scope);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    const auto range = [&](int x) -> const lowering::Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const lowering::Range row = row_range(scope, roles.m);
    const lowering::Range& steps = range(roles.s);
    const int64_t stride = (steps.largest + lanes - 1) / lanes * lanes;
    if (row.largest * stride > kLargestTile) {
        throw lowering::Refused(scope.node.name, "stream",
                                fmt::format("its tile of scores has {} x {} elements, at most {} are allowed",
                                            row.largest, stride, kLargestTile),
                                "tile the rows or the positions");
    }
    const auto* value = std::get_if<Read>(&definition.body[1]->node);
    if (!value)
        throw lowering::Refused(scope.node.name, "stream", "needs an operand as its value",
                                "use the micro-kernel loops");

    lowering::LeafLoops loops(scope, roles.others);
    const std::string tile = scope.names.fresh("scores_of_" + scope.node.name);

    // The scores, masked, a row at a time with lanes along the positions.
    lowering::LeafLoops rows(scope, roles.m >= 0 ? std::vector<int>{roles.m} : std::vector<int>{});
    std::vector<movement::Index> at = loops.values();
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = rows.values()[static_cast<size_t>(roles.m)];
    const movement::Index row_in_tile =
        roles.m >= 0 ? at[static_cast<size_t>(roles.m)] - row.begin : movement::Index(0);
    const lowering::LaneLoop positions = lowering::lane_loop(scope, roles.s, lanes);
    at[static_cast<size_t>(roles.s)] = positions.value;
    const lowering::ValueScope values{scope.node, scope.storage, at, identity(Monoid::kMax), nullptr};
    movement::ValuePtr score = lowering::to_value(definition.body[0], values);
    if (definition.where) {
        score = movement::apply_value(
            Function::kSelect,
            {lowering::to_value(definition.where, values), score,
             movement::apply_value(Function::kNegate, {std::make_shared<const movement::ValueExpr>(
                                                          movement::ValueExpr{Infinity{}})})});
    }
    const movement::Index in_tile =
        (positions.value - steps.begin).substitute(lowering::kLane, movement::Index(0));
    movement::Body body;
    body.push_back({movement::LocalTile{tile, row.largest * stride}});
    for (movement::Statement& s : rows.around({positions.around(
             {{movement::Store{{tile, row_in_tile * movement::Index(stride) + in_tile}, 1, score}}})})) {
        body.push_back(std::move(s));
    }

    // Strides of the values and of the state inside the tile.
    at = loops.values();
    const FactorPositions inside{kGroup, groups_in(range(roles.d), lanes), kStep, steps.largest};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.s)] = steps.begin + position(kStep, inside.inner_count);
    at[static_cast<size_t>(roles.d)] = range(roles.d).begin +
                                       position(kGroup, inside.outer_count) * movement::Index(lanes) +
                                       position(lowering::kLane, lanes);
    refuse_reads_outside(scope, {*value});
    const std::vector<int> results = definition.results();
    const auto result = [&](size_t i) {
        return TileAddress(scope, results[i], definition.tensors[static_cast<size_t>(results[i])].map, at,
                           true);
    };
    const TileAddress max = result(0), sum = result(1), weighted = result(2);
    if (lanes > 1) weighted.expect_stride(lowering::kLane, 1);
    if (row.largest > 1) {
        max.expect_stride(kRow, 1);
        sum.expect_stride(kRow, 1);
    }
    // GCC 12 destroys a member that braces initialise twice where a later initialiser throws.
    const movement::Address scores{tile, movement::Index(0)};
    movement::Factor of_values = operand_factor(scope, *value, at, inside, lanes);
    SoftmaxCall call{.lanes = lanes,
                     .rows = scope.leaf.number(parameter::kRows),
                     .groups = scope.leaf.number(parameter::kGroups),
                     .weights = definition.weights,
                     .m = extent(row),
                     .s = extent(steps),
                     .d = extent(range(roles.d)),
                     .scores = scores,
                     .scores_stride = stride,
                     .v = std::move(of_values),
                     .max = max.start(),
                     .sum = sum.start(),
                     .result = weighted.start(),
                     .result_m = weighted.stride(kRow),
                     .result_group = weighted.stride(kGroup)};
    body.push_back({make(std::move(call), *value)});
    movement::Body whole;
    if (!scope.is_partial) whole = lowering::lower_identity(scope);
    for (movement::Statement& s : loops.around(std::move(body))) whole.push_back(std::move(s));
    return whole;
}

std::string why_no_softmax(const Definition& definition) {
    return definition.monoid == Monoid::kSoftmaxSum ? "" : "its monoid is not softmax_sum";
}

void for_each_softmax_reading(const CandidateScope& scope,
                              const std::function<void(const SoftmaxReading&)>& offer) {
    const Definition& d = scope.definition();
    const auto& once = d.tensors[static_cast<size_t>(d.results()[0])].map;
    const std::vector<Read> values = reads_in({d.body[1]});
    int index = 0;
    for (int x = 0; x < static_cast<int>(d.iterators.size()); ++x) {
        if (d.iterators[static_cast<size_t>(x)].is_reduction || uses(once, x)) continue;
        std::vector<int> rows;
        for (int m = 0; m < static_cast<int>(d.iterators.size()); ++m) {
            const bool indexes_value = std::any_of(values.begin(), values.end(),
                                                   [&](const Read& r) { return uses(r.coordinates, m); });
            if (uses(once, m) && !indexes_value && scope.extent(m) > 1) rows.push_back(m);
        }
        std::stable_sort(rows.begin(), rows.end(),
                         [&](int a, int b) { return scope.extent(a) > scope.extent(b); });
        rows.push_back(-1);
        for (const int m : rows) {
            plan::Leaf leaf = scope.leaf();
            leaf.set(parameter::kValues, scope.name(x));
            if (m >= 0) leaf.set(parameter::kRowsOfStream, scope.name(m));
            offer({x, m, m < 0 ? 1 : scope.extent(m), index++, std::move(leaf)});
        }
    }
}

bool are_values_of(const CandidateScope& scope, ElementType type) {
    const std::vector<Read> values = reads_in({scope.definition().body[1]});
    return std::all_of(values.begin(), values.end(), [&](const Read& read) {
        const TensorDecl& tensor = scope.definition().tensors[static_cast<size_t>(read.tensor)];
        return tensor.role == Role::kIndex || tensor.type == type;
    });
}

bool are_weights_rounded(const CandidateScope& scope) {
    const ElementType weights = scope.definition().weights;
    return weights != ElementType::kF32 && are_values_of(scope, weights);
}

}  // namespace tessera::kernels
