// Micro-kernels `stream` and `stream_tiles`: one tile of a streaming softmax (monoid softmax_sum). The masked
// scores of the tile go to a local tile, NTT folds them and the values into (M, L, A), so a T x S matrix
// never exists.
#include <utility>

#include "ir/iterator_use.h"
#include "movement/calls/stream_call.h"
#include "movement/product_tile.h"
#include "support/error.h"

namespace tessera {
namespace {

constexpr int64_t kLargestTile = 1 << 14;  // elements; it lives on the stack

struct StreamRoles {
    int m, s, d;
    std::vector<int> others;
};

StreamRoles roles_of(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    StreamRoles roles{iterator_parameter(scope, "m"), -1, iterator_parameter(scope, "d"), {}};
    if (roles.d < 0)
        throw Error(scope.node.name, "stream", "needs d=ITERATOR, the iterator of the values alone");
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
        if (x == roles.m || x == roles.d) continue;
        if (!definition.iterators[static_cast<size_t>(x)].is_reduction) {
            roles.others.push_back(x);
        } else if (std::exchange(roles.s, x) >= 0) {
            throw Error(scope.node.name, "stream", "folds over one reduction iterator, and there are more");
        }
    }
    if (roles.s < 0) throw Error(scope.node.name, "stream", "has no reduction iterator");
    for (const ExprPtr& c : definition.tensors[static_cast<size_t>(definition.results()[0])].map) {
        if (uses(c, roles.d))
            throw Error(scope.node.name, "d", "must be an iterator that the maximum does not use");
    }
    return roles;
}

/// Whether weights and values are added in pairs. @throws Error where NTT cannot.
bool adds_pairs(const LeafScope& scope, const Read& value) {
    if (number_parameter(scope, "dot", 1, 2) == 1) return false;
    const Definition& definition = *scope.node.definition();
    const auto refuse = [&](const std::string& problem) {
        throw Error(scope.node.name, "dot", problem, "leave dot out");
    };
    const ElementType type = definition.tensors[static_cast<size_t>(value.tensor)].type;
    if (definition.weights != ElementType::kBF16 || type != ElementType::kBF16)
        refuse(fmt::format("needs weights and values of bf16; they are of {} and {}",
                           name(definition.weights), name(type)));
    if (lanes_parameter(scope) == 1) refuse("lays lanes into each other, and there are none");
    if (panel_parameter(scope) > 0) refuse("goes without panels");
    return true;
}

}  // namespace

Body lower_stream(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const StreamRoles roles = roles_of(scope);
    const int64_t lanes = lanes_parameter(scope);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = row_range(scope, roles.m);
    const Range& steps = range(roles.s);
    const int64_t stride = (steps.largest + lanes - 1) / lanes * lanes;
    if (row.largest * stride > kLargestTile) {
        throw Error(scope.node.name, "stream",
                    fmt::format("its tile of scores has {} x {} elements, at most {} are allowed",
                                row.largest, stride, kLargestTile),
                    "tile the rows or the positions");
    }
    const auto* value = std::get_if<Read>(&definition.body[1]->node);
    if (!value)
        throw Error(scope.node.name, "stream", "needs an operand as its value", "use the micro-kernel loops");

    LeafLoops loops(scope, roles.others);
    const std::string tile = scope.names.fresh(identifier(scope.node.name) + "_scores");

    // The scores, masked, a row at a time with lanes along the positions.
    LeafLoops rows(scope, roles.m >= 0 ? std::vector<int>{roles.m} : std::vector<int>{});
    std::vector<Index> at = loops.values();
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = rows.values()[static_cast<size_t>(roles.m)];
    const Index row_in_tile = roles.m >= 0 ? at[static_cast<size_t>(roles.m)] - row.begin : Index(0);
    const LaneLoop positions = lane_loop(scope, roles.s, lanes);
    at[static_cast<size_t>(roles.s)] = positions.value;
    const ValueScope values{scope.node, scope.storage, at, identity(Monoid::kMax), nullptr};
    ValuePtr score = to_value(definition.body[0], values);
    if (definition.where) {
        score = apply_value(
            Function::kSelect,
            {to_value(definition.where, values), score,
             apply_value(Function::kNegate, {std::make_shared<const ValueExpr>(ValueExpr{Infinity{}})})});
    }
    const Index in_tile = (positions.value - steps.begin).substitute(kLane, Index(0));
    Body body;
    body.push_back({LocalTile{tile, row.largest * stride}});
    for (Statement& s : rows.around(
             {positions.around({{Store{{tile, row_in_tile * Index(stride) + in_tile}, 1, score}}})})) {
        body.push_back(std::move(s));
    }

    // Strides of the values and of the state inside the tile.
    at = loops.values();
    const FactorPositions inside{kGroup, groups_in(range(roles.d), lanes), kStep, steps.largest};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.s)] = steps.begin + position(kStep, inside.inner_count);
    at[static_cast<size_t>(roles.d)] =
        range(roles.d).begin + position(kGroup, inside.outer_count) * Index(lanes) + position(kLane, lanes);
    refuse_reads_outside(scope, {*value}, at);
    const std::vector<int> results = definition.results();
    const auto result = [&](size_t i) {
        return TileAddress(scope, results[i], definition.tensors[static_cast<size_t>(results[i])].map, at,
                           true);
    };
    const TileAddress max = result(0), sum = result(1), weighted = result(2);
    if (lanes > 1) weighted.expect_stride(kLane, 1);
    if (row.largest > 1) {
        max.expect_stride(kRow, 1);
        sum.expect_stride(kRow, 1);
    }
    // GCC 12 destroys a member that braces initialise twice where a later initialiser throws.
    const Address scores{tile, Index(0)};
    const bool in_pairs = adds_pairs(scope, *value);
    Factor of_values = operand_factor(scope, *value, at, inside, lanes);
    StreamCall call{.lanes = lanes,
                    .rows = number_parameter(scope, "rows", 1, 32),
                    .groups = number_parameter(scope, "groups", 1, 16),
                    .weights = definition.weights,
                    .dot = in_pairs,
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
    if (scope.leaf.micro_kernel == "stream_tiles") {
        const TileBlock block = tile_parameters_of(scope);
        call.tile_rows = block.tile_rows;
        call.depth = block.depth;
    } else {
        call.prefetch = prefetch_parameter(scope);
        call.panel_blocks = panel_parameter(scope);
    }
    body.push_back({Call(std::move(call))});
    Body whole;
    if (!scope.is_partial) whole = lower_identity(scope);
    for (Statement& s : loops.around(std::move(body))) whole.push_back(std::move(s));
    return whole;
}

}  // namespace tessera
