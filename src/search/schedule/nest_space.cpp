#include "search/schedule/nest_space.h"

#include <algorithm>
#include <bit>

#include "search/schedule/block_context.h"

namespace tessera::schedule {
namespace {

using lowering::TiledKernel;
using lowering::TiledOperator;

/// Limits of paper 002, section III: of padding by the extent, and of tiles by the shared memory.
constexpr double kMostPadding = 0.05, kMostOfCache = 1.2;

bool is_power_of_two(int64_t size) {
    return std::has_single_bit(static_cast<uint64_t>(size));
}

bool pads(int64_t size, int64_t extent) {
    const int64_t padding = (size - extent % size) % size;
    return is_power_of_two(extent)
               ? padding > 0
               : static_cast<double>(padding) >= kMostPadding * static_cast<double>(extent);
}

bool uses(const TiledKernel& kernel, const TiledOperator& op, int loop) {
    for (int x = 0; x < static_cast<int>(op.ranges.size()); ++x)
        if (lowering::changes(kernel, loop, op, x)) return true;
    return false;
}

bool has_outer_sum(const BlockContext& block, const TiledKernel& kernel) {
    const auto is_sum = [&](int at) {
        const lowering::TiledLoop& loop = kernel.loops[static_cast<size_t>(at)];
        return block.links.operators[static_cast<size_t>(loop.op)].is_reduction(loop.iterator);
    };
    return std::ranges::any_of(kernel.operators, [&](const TiledOperator& op) {
        const auto sum = std::ranges::find_if(op.loops, is_sum);
        return !std::all_of(sum, op.loops.end(), is_sum);
    });
}

}  // namespace

bool has_size(const NestSpace& space, int64_t size, int64_t extent) {
    if (size == extent) return true;
    return (space.has_odd_sizes || is_power_of_two(size)) && (space.has_padded_sizes || !pads(size, extent));
}

bool has_private_loop(const TiledKernel& kernel) {
    return std::ranges::any_of(kernel.operators, [&](const TiledOperator& op) {
        return !std::ranges::all_of(op.loops, [&](int loop) { return uses(kernel, op, loop); });
    });
}

bool is_in_space(BlockContext& block, const TiledKernel& kernel) {
    const auto is_root = [&](const lowering::NumberedNest& stated) {
        return stated.root() == kernel.operators.back().op;
    };
    if (std::ranges::any_of(block.stated, is_root)) return true;
    if (!block.space.has_outer_sums && has_outer_sum(block, kernel)) return false;
    return block.space.has_large_tiles || kernel.operators.size() == 1 ||
           block.evaluator.tile_bytes(kernel) <= kMostOfCache * block.evaluator.near_capacity();
}

}  // namespace tessera::schedule
