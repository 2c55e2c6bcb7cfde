#include "tessera/ntt/tensor.h"

#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/ntt/blocks.h"

namespace tessera::ntt {
namespace {

// Static extents stay static: decided when this file compiles.
static_assert(std::is_same_v<decltype(shape(Int<64>{}, 3)), Shape<Int<64>, int64_t>>);
static_assert(std::is_same_v<decltype(Int<3>{} * Int<4>{} + Int<1>{}), Int<13>>);
static_assert(std::is_same_v<decltype(Int<3>{} * int64_t{4}), int64_t>);
static_assert(std::is_same_v<decltype(ceil_div(Int<9>{}, Int<4>{})), Int<3>>);
static_assert(std::is_same_v<decltype(row_major(shape(int64_t{7}, Int<3>{}, Int<5>{}))),
                             Strides<Int<15>, Int<5>, Int<1>>>);
static_assert(std::is_same_v<decltype(row_major(shape(Int<2>{}, int64_t{7}, Int<5>{}))),
                             Strides<int64_t, Int<5>, Int<1>>>);
static_assert(std::is_same_v<decltype(shape(Int<2>{}, Int<5>{}).size()), Int<10>>);
static_assert(sizeof(tensor(static_cast<float*>(nullptr), shape(Int<2>{}, Int<3>{}))) <= 2 * sizeof(float*));

TEST(Shape, RowMajorStridesAndSize) {
    const auto s = shape(Int<2>{}, 7, Int<5>{});
    const auto d = row_major(s);
    EXPECT_EQ(s.size(), 70);
    EXPECT_EQ(d.get<0>(), 35);
    EXPECT_EQ(d.get<1>(), 5);
    EXPECT_EQ(d.get<2>(), 1);
    EXPECT_EQ(shape().size(), 1);
}

// Every element of a view is where the strides say, whichever extents are static.
template <class X>
void check_addresses(X x, int64_t offset) {
    for (int64_t i = 0; i < x.template extent<0>(); ++i) {
        for (int64_t j = 0; j < x.template extent<1>(); ++j) {
            for (int64_t k = 0; k < x.template extent<2>(); ++k) {
                const int64_t at = offset + i * x.template stride<0>() + j * x.template stride<1>() +
                                   k * x.template stride<2>();
                EXPECT_EQ(x(i, j, k), at);
                EXPECT_EQ(*x.address(i, j, k), at);
            }
        }
    }
}

TEST(Tensor, Addresses) {
    std::vector<int64_t> data(200);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int64_t>(i);
    check_addresses(tensor(data.data(), shape(Int<2>{}, Int<3>{}, Int<5>{})), 0);
    check_addresses(tensor(data.data(), shape(2, Int<3>{}, 5)), 0);
    check_addresses(tensor(data.data(), shape(Int<2>{}, 3, 5), strides(Int<1>{}, 20, Int<2>{})), 0);
    const auto x = tensor(data.data(), shape(4, Int<5>{}, Int<6>{}));
    check_addresses(x.tile(offset(1, Int<2>{}, 3), shape(2, Int<3>{}, Int<2>{})), 30 + 12 + 3);
    EXPECT_EQ(x.at(3, Int<4>{}, 5), 119);
}

TEST(Tensor, DropTakesASlice) {
    std::vector<int64_t> data(120);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int64_t>(i);
    const auto x = tensor(data.data(), shape(4, Int<5>{}, Int<6>{}));
    const auto row = x.drop<0>(2);
    static_assert(std::is_same_v<decltype(row.shape()), Shape<Int<5>, Int<6>>>);
    EXPECT_EQ(row(1, 3), 2 * 30 + 6 + 3);
    EXPECT_EQ(x.drop<1>(Int<4>{})(3, 2), 90 + 24 + 2);
    EXPECT_EQ(x.drop<2>(5).drop<0>(1)(3), 30 + 18 + 5);
}

template <int Size, class E>
std::vector<int64_t> block_sizes(E extent) {
    std::vector<int64_t> sizes;
    int64_t covered = 0;
    for_blocks<Size>(extent, [&](auto size, int64_t begin) {
        EXPECT_EQ(begin, covered);
        covered += size;
        sizes.push_back(size);
    });
    EXPECT_EQ(covered, int64_t{extent});
    return sizes;
}

TEST(Blocks, CoverTheExtentInOrder) {
    EXPECT_EQ(block_sizes<12>(Int<29>{}), (std::vector<int64_t>{12, 12, 5}));
    EXPECT_EQ(block_sizes<12>(int64_t{29}), (std::vector<int64_t>{12, 12, 4, 1}));
    EXPECT_EQ(block_sizes<4>(Int<0>{}), std::vector<int64_t>{});
    EXPECT_EQ(block_sizes<12>(Int<8>{}), std::vector<int64_t>{8});
    EXPECT_EQ(block_sizes<12>(int64_t{4}), std::vector<int64_t>{4});
    for (int64_t n = 0; n < 40; ++n)
        block_sizes<12>(n), block_sizes<6>(n), block_sizes<5>(n), block_sizes<1>(n);
}

/// The groups of each block and how many lanes of them exist, cut into three streams.
std::vector<std::vector<int64_t>> groups_in_streams(int64_t n) {
    std::vector<std::vector<int64_t>> blocks;
    for_streams<8, 3>(n, [&](auto groups, auto group, auto count) {
        blocks.emplace_back();
        for (int j = 0; j < groups.value; ++j) blocks.back().push_back(group + j);
        blocks.back().push_back(count);
    });
    return blocks;
}

TEST(Blocks, HaveAGroupOfEachStream) {
    using Blocks = std::vector<std::vector<int64_t>>;
    EXPECT_EQ(groups_in_streams(48), (Blocks{{0, 2, 4, 8}, {1, 3, 5, 8}}));
    EXPECT_EQ(groups_in_streams(67), (Blocks{{0, 2, 4, 8}, {1, 3, 5, 8}, {6, 8}, {7, 8}, {8, 3}}));
    EXPECT_EQ(groups_in_streams(17), (Blocks{{0, 8}, {1, 8}, {2, 1}}));
    EXPECT_EQ(groups_in_streams(0), Blocks{});
}

}  // namespace
}  // namespace tessera::ntt
