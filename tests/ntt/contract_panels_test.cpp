// Many rows, for which contract widens panels of B: each sum is formed in the order of k regardless of
// widening, so that every row has the same bits as by itself.

#include <vector>

#include <gtest/gtest.h>

#include "ntt/buffers.h"
#include "ntt/pair_cases.h"
#include "tessera/ntt/contract.h"

namespace tessera::ntt {
namespace {

constexpr int kL = kRegisterLanes;
constexpr int64_t kDepth = 75, kColumns = 5 * kL + 3;  // a group that is not whole

template <class T>
std::vector<T> numbers(int64_t count, uint64_t seed) {
    Random random(seed);
    std::vector<T> all(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) set_element(all.data(), i, random.next());
    return all;
}

/// As many k as one panel holds.
constexpr int64_t panel_depth(const ContractTile& tile) {
    return kContractPanel / (tile.groups * tile.lanes) / detail::kLargestBlock * detail::kLargestBlock;
}

template <ContractTile Tile, class B>
void check(int64_t m, int64_t k, const B& b) {
    SCOPED_TRACE(m);
    const auto a = numbers<float>(m * k, 1);
    Random random(3);
    Guarded<float> many(random.numbers(m * kColumns));
    Guarded<float> alone = many;
    contract<Tile>(m, kColumns, k, rows(a.data(), k, Int<1>{}), b, result(many.data(), kColumns, Int<kL>{}));
    for (int64_t row = 0; row < m; ++row)
        contract<Tile>(1, kColumns, k, rows(a.data() + row * k, k, Int<1>{}), b,
                       result(alone.data() + row * kColumns, kColumns, Int<kL>{}));
    ASSERT_TRUE(many.guards_are_intact());
    for (int64_t i = 0; i < m * kColumns; ++i) ASSERT_TRUE(same(many[i], alone[i])) << i;
}

template <ContractTile Tile, class B>
void check_type() {
    constexpr int64_t kFewest = Tile.panel_blocks * Tile.rows;
    constexpr int64_t kDeepest = panel_depth(Tile);
    const auto b = numbers<B>(kColumns * (2 * kDeepest + 1), 2);
    const auto b_lanes = lanes(b.data(), Int<kL>{}, kColumns);
    for (const int64_t m : {kFewest - 1, kFewest, kFewest + 5})
        for (const int64_t k : {int64_t{0}, int64_t{1}, kDepth}) check<Tile>(m, k, b_lanes);
    check<Tile>(kFewest, kDeepest, b_lanes);
    for (const int64_t depth : {kDeepest + 1, 2 * kDeepest, 2 * kDeepest + 1})
        check<Tile>(kFewest, depth, b_lanes);
}

TEST(ContractPanels, EveryRowIsAsByItself) {
    check_type<ContractTile{.lanes = kL, .rows = 6, .groups = 2, .panel_blocks = 4}, bf16>();
    check_type<ContractTile{.lanes = kL, .rows = 4, .groups = 3, .accumulate = true, .panel_blocks = 2},
               f16>();
}

TEST(ContractPanels, PairsOfK) {
    constexpr ContractTile kTile{.lanes = kL, .rows = 4, .groups = 2, .k_unroll = 2, .panel_blocks = 3};
    for (const int64_t depth : {int64_t{0}, int64_t{1}, kDepth, kDepth + 1, panel_depth(kTile) + kDepth}) {
        const Case c{13, kColumns, depth};
        const auto b = pairs_of(numbers<bf16>(c.n * c.k, 4), c, kL);
        check<kTile>(c.m, depth, lane_pairs(b.data(), ceil_div(depth, int64_t{2}) * 2 * kL, Int<2 * kL>{}));
    }
}

// A scale for 32 k, which is read once in a turn of so many steps.
TEST(ContractPanels, WhatIsDecoded) {
    using V = Vector<float, kL>;
    constexpr ContractTile kTile{.lanes = kL, .rows = 4, .groups = 2, .k_unroll = 32, .panel_blocks = 4};
    for (const int64_t depth : {kDepth, panel_depth(kTile) + kDepth}) {
        constexpr int64_t kGroups = ceil_div(kColumns, int64_t{kL});
        const int64_t scales_of_group = ceil_div(depth, int64_t{32});
        const auto weights = numbers<bf16>(kGroups * depth * kL, 2);
        const auto scales = numbers<float>(kGroups * scales_of_group * kL, 3);
        const auto b = decoded([&](int64_t group, int64_t k, auto count) {
            const V scale = load_group<V>(scales.data() + (group * scales_of_group + k / 32) * kL, count);
            return load_group<V>(weights.data() + (group * depth + k) * kL, count) * scale;
        });
        check<kTile>(37, depth, b);
    }
}

}  // namespace
}  // namespace tessera::ntt
