// Micro-kernels `contract` (lanes along n) and `dot` (lanes along k): sums of products as calls of NTT's
// register-blocked contraction. Which factor is A and which is B follows from the iterators m, n and k.
#include <algorithm>

#include "ir/iterator_use.h"
#include "kernels/contraction.h"
#include "kernels/parameters.h"
#include "movement/calls/contract_call.h"
#include "movement/calls/dot_call.h"
#include "movement/product_tile.h"
#include "support/error.h"

namespace tessera {
namespace {

struct Roles : ProductIterators {
    Contraction product;
    int c;  ///< position of the result
};

Roles roles_of(const LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const ProductIterators iterators = product_iterators(scope);
    const auto [m, n, k] = iterators;
    for (Contraction& product : contractions_of(definition)) {
        if (contains(product.n, n) && contains(product.k, k) && (m < 0 || contains(product.m, m)))
            return {iterators, std::move(product), definition.results().front()};
    }
    throw Error(
        scope.node.name, std::string(scope.leaf.kernel->name),
        "n must index one factor and the result, k both factors and not the result, m the other factor "
        "and the result",
        "choose other iterators for m, n and k");
}

std::vector<Read> factors_read(const Roles& roles) {
    std::vector<Read> reads = roles.product.b_reads;
    reads.push_back(roles.product.a);
    return reads;
}

/// An operand is read at its strides; anything else is computed from the operands group by group.
Factor factor_b(const LeafScope& scope, const Roles& roles, const std::vector<Index>& at,
                const FactorPositions& positions, int64_t lanes) {
    if (const Read* operand = roles.product.b_operand())
        return operand_factor(scope, *operand, at, positions, lanes);
    if (positions.k_lanes > 1) {
        throw Error(scope.node.name, "k_lanes", "its factor is computed from several operands",
                    "leave k_lanes out");
    }
    return computed_factor(scope, roles.product.b, at, positions);
}

/// Neighbouring k in B's lanes, and whether their products are added together: what NTT has of that.
struct KLanes {
    int64_t count;
    bool dot;
};

KLanes k_lanes_of(const LeafScope& scope, const Roles& roles) {
    const int64_t count = scope.leaf.number(parameter::kKLanes), dot = scope.leaf.number(parameter::kDot);
    const auto expect_bf16 = [&](const Read& factor, const char* parameter) {
        const TensorDecl& tensor = scope.node.definition()->tensors[static_cast<size_t>(factor.tensor)];
        if (tensor.type == ElementType::kBF16) return;
        throw Error(scope.node.name, tensor.name,
                    fmt::format("is of {}; {}=2 needs bf16", name(tensor.type), parameter),
                    fmt::format("leave {} out", parameter));
    };
    const Read* b = roles.product.b_operand();
    if (dot > 1 && !b)
        throw Error(scope.node.name, "dot", "its factor is computed from several operands", "leave dot out");
    if (dot > 1 && count == 1 && scope.leaf.number(parameter::kLanes) == 1)
        throw Error(scope.node.name, "dot", "lays lanes into each other, and there are none", "give lanes");
    if (count > 1 && b) expect_bf16(*b, "k_lanes");
    if (dot > 1) {
        expect_bf16(roles.product.a, "dot");
        expect_bf16(*b, "dot");
    }
    return {count, dot > 1};
}

/// @throws Error if panels are asked for where NTT has none.
void expect_panels_possible(const LeafScope& scope, const Roles& roles) {
    if (scope.leaf.number(parameter::kPanelBlocks) == 0) return;
    const TensorDecl& a = scope.node.definition()->tensors[static_cast<size_t>(roles.product.a.tensor)];
    if (a.type == ElementType::kF32) return;
    throw Error(scope.node.name, "panel_blocks",
                fmt::format("{} is of {}; panels are for rows of f32", a.name, name(a.type)),
                "leave panel_blocks out");
}

}  // namespace

Body lower_contract(const LeafScope& scope) {
    const Roles roles = roles_of(scope);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    const KLanes k_lanes = k_lanes_of(scope, roles);
    expect_panels_possible(scope, roles);
    ProductTile tile = surrounding(scope, roles);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, factors_read(roles), at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = row_range(scope, roles.m);
    const FactorPositions positions{kGroup, groups_in(range(roles.n), lanes), kStep,
                                    groups_in(range(roles.k), k_lanes.count), k_lanes.count};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin +
                                       position(kStep, positions.inner_count) * Index(k_lanes.count) +
                                       position(kInStep, k_lanes.count);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin +
                                       position(kGroup, positions.outer_count) * Index(lanes) +
                                       position(kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) c.expect_stride(kLane, 1);
    if (k_lanes.count > 1) a.expect_stride(kStep, k_lanes.count * a.stride(kInStep));
    if (k_lanes.dot) a.expect_stride(k_lanes.count > 1 ? kInStep : kStep, 1);
    ContractCall call{.lanes = lanes,
                      .rows = scope.leaf.number(parameter::kRows),
                      .groups = scope.leaf.number(parameter::kGroups),
                      .partial_sums = scope.leaf.number(parameter::kPartialSums),
                      .prefetch = scope.leaf.number(parameter::kPrefetch),
                      .streams = streams_of(scope),
                      .panel_blocks = scope.leaf.number(parameter::kPanelBlocks),
                      .k_lanes = k_lanes.count,
                      .dot = k_lanes.dot,
                      .accumulate = tile.accumulates,
                      .b_is_padded = std::all_of(
                          roles.product.b_reads.begin(), roles.product.b_reads.end(),
                          [&](const Read& read) { return is_padded(scope, read, lanes, k_lanes.count > 1); }),
                      .m = extent(row),
                      .n = extent(range(roles.n)),
                      .k = extent(range(roles.k)),
                      .a = a.start(),
                      .a_m = a.stride(kRow),
                      .a_k = k_lanes.count > 1 ? a.stride(kInStep) : a.stride(kStep),
                      .b = factor_b(scope, roles, at, positions, lanes),
                      .c = c.start(),
                      .c_m = c.stride(kRow),
                      .c_group = c.stride(kGroup)};
    return finished(scope, std::move(tile), {Call(std::move(call))});
}

Body lower_dot(const LeafScope& scope) {
    const Roles roles = roles_of(scope);
    const int64_t lanes = scope.leaf.number(parameter::kLanes);
    ProductTile tile = surrounding(scope, roles);
    std::vector<Index> at = tile.loops.values();
    refuse_reads_outside(scope, factors_read(roles), at);
    const auto range = [&](int x) -> const Range& { return scope.ranges[static_cast<size_t>(x)]; };
    const Range row = row_range(scope, roles.m);
    const FactorPositions positions{kColumn, range(roles.n).largest, kGroup,
                                    groups_in(range(roles.k), lanes)};
    if (roles.m >= 0) at[static_cast<size_t>(roles.m)] = row.begin + position(kRow, row.largest);
    at[static_cast<size_t>(roles.n)] = range(roles.n).begin + position(kColumn, positions.outer_count);
    at[static_cast<size_t>(roles.k)] = range(roles.k).begin +
                                       position(kGroup, positions.inner_count) * Index(lanes) +
                                       position(kLane, lanes);

    const Read& left = roles.product.a;
    const TileAddress a(scope, left.tensor, left.coordinates, at, false);
    const TileAddress c(scope, roles.c, scope.node.definition()->tensors[static_cast<size_t>(roles.c)].map,
                        at, true);
    if (lanes > 1) a.expect_stride(kLane, 1);
    DotCall call{.lanes = lanes,
                 .rows = scope.leaf.number(parameter::kRows),
                 .columns = scope.leaf.number(parameter::kColumnsInRegisters),
                 .accumulate = tile.accumulates,
                 .m = extent(row),
                 .n = extent(range(roles.n)),
                 .k = extent(range(roles.k)),
                 .a = a.start(),
                 .a_m = a.stride(kRow),
                 .a_group = a.stride(kGroup),
                 .b = factor_b(scope, roles, at, positions, lanes),
                 .c = c.start(),
                 .c_m = c.stride(kRow),
                 .c_n = c.stride(kColumn)};
    return finished(scope, std::move(tile), {Call(std::move(call))});
}

}  // namespace tessera
