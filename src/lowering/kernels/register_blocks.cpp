#include "lowering/kernels/register_blocks.h"

#include <algorithm>

namespace tessera::kernels {
namespace {

/// The same block with prefetching.
RegisterBlock with_prefetch(RegisterBlock block, int64_t line_bytes) {
    block.prefetch = kPrefetch / block.columns / line_bytes * line_bytes;
    return block;
}

/// One group of lanes, which reads B in the order of the addresses.
void add_one_group(std::vector<RegisterBlock>& blocks, int64_t rows, int64_t partial_sums) {
    blocks.push_back({rows, 1, 0, partial_sums});
    for (const int64_t prefetch : kPrefetchDistances) blocks.push_back({rows, 1, prefetch, partial_sums});
}

/// The number of sums of one group at which no addition has to wait for the one before.
int64_t sums_in_flight(int64_t rows) {
    return rows <= 2 ? 4 : 2;
}

/// Groups that are read in streams of their own, each from end to end. Explicit prefetching in many streams
/// impedes the processor's prefetchers.
void add_streams(std::vector<RegisterBlock>& blocks, int64_t rows, int64_t sums, int64_t line_bytes) {
    const auto in_streams = [&](int64_t count) {
        return RegisterBlock{.rows = rows,
                             .columns = count,
                             .partial_sums = std::max<int64_t>(sums / count, 1),
                             .streams = count};
    };
    blocks.push_back(in_streams(2));
    blocks.push_back(with_prefetch(in_streams(2), line_bytes));
    if (rows == 1) blocks.push_back(in_streams(4));
}

/// The same blocks, this one first.
std::vector<RegisterBlock> preferring(const RegisterBlock& block, std::vector<RegisterBlock> blocks) {
    const auto at = std::ranges::find(blocks, block);
    std::rotate(blocks.begin(), at, at + 1);
    return blocks;
}

}  // namespace

std::vector<RegisterBlock> register_blocks(const KernelTarget& target, int64_t rows, bool along_n) {
    const int64_t registers = target.vector_registers;
    const bool has_many_registers = registers >= 32;
    const int64_t several = has_many_registers ? 4 : 2;
    if (!along_n) {
        if (rows == 1) return {{1, has_many_registers ? 8 : 4}};
        return {{std::min<int64_t>(rows, has_many_registers ? 4 : 3), 4}};
    }
    std::vector<RegisterBlock> blocks;
    if (rows == 1) {
        blocks.push_back({1, has_many_registers ? 4 : 8});
        for (const int64_t partial_sums : {int64_t{1}, sums_in_flight(1)})
            add_one_group(blocks, 1, partial_sums);
        for (const int64_t groups : {2, 4, 8}) {
            blocks.push_back({1, groups});
            blocks.push_back(with_prefetch({1, groups}, target.line_bytes));
        }
        add_streams(blocks, 1, sums_in_flight(1), target.line_bytes);
        return blocks;
    }
    if (rows <= kFewRows) blocks.push_back({rows, several});
    for (const int64_t groups : {2, 3, 4}) {
        const int64_t fitting = (registers - 1 - groups) / groups;
        const RegisterBlock block{std::min({rows, fitting, int64_t{12}}), groups};
        blocks.push_back(block);
        // Many rows hide most of the memory.
        if (groups == 2 || rows <= kFewRows) blocks.push_back(with_prefetch(block, target.line_bytes));
    }
    if (rows > kFewRows && rows + 2 <= registers)
        blocks.push_back(
            {.rows = rows, .columns = 1, .prefetch = kPrefetchDistances.back(), .is_for_memory = true});
    if (rows <= kFewRows)
        for (const int64_t partial_sums : {int64_t{1}, sums_in_flight(rows)})
            add_one_group(blocks, rows, partial_sums);
    if (rows <= kFewRows) add_streams(blocks, rows, 1, target.line_bytes);
    return blocks;
}

std::vector<RegisterBlock> blocks_of_integers(const KernelTarget& target, int64_t rows) {
    std::vector<RegisterBlock> blocks;
    if (rows == 1) {
        add_one_group(blocks, 1, 1);
        for (const int64_t groups : {2, 4}) {
            blocks.push_back({1, groups});
            blocks.push_back(with_prefetch({1, groups}, target.line_bytes));
        }
        add_streams(blocks, 1, 1, target.line_bytes);
        return preferring({.rows = 1, .columns = 1, .prefetch = kPrefetchDistances[1]}, std::move(blocks));
    }
    const bool has_many_registers = target.vector_registers >= 32;
    const RegisterBlock first{std::min<int64_t>(rows, 4), 2};
    blocks = {first,
              with_prefetch(first, target.line_bytes),
              {std::min<int64_t>(rows, has_many_registers ? 6 : 2), 2},
              {std::min<int64_t>(rows, has_many_registers ? 8 : 4), 1}};
    if (rows > kFewRows) return blocks;
    add_streams(blocks, rows, 1, target.line_bytes);
    return preferring(with_prefetch({.rows = rows, .columns = 2, .streams = 2}, target.line_bytes),
                      std::move(blocks));
}

std::vector<RegisterBlock> blocks_of_folded_integers(const KernelTarget& target, int64_t rows) {
    if (!target.has_all_blocks || rows == 1) return {};
    if (target.vector_registers < 32) return {{3, 3}};
    return {{8, 2}, {4, 4}, {4, 3}};
}

RegisterBlock block_of_values(int64_t registers, int64_t rows) {
    const bool has_many_registers = registers >= 32;
    if (rows <= 2) return {rows, has_many_registers || rows == 1 ? 8 : 4};
    return {std::min<int64_t>(rows, 6), has_many_registers ? 4 : 2};
}

}  // namespace tessera::kernels
