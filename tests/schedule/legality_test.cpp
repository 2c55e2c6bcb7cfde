// Legality as a value against lowering: random nests are legal exactly if a kernel of `loops` lowers.
#include <random>

#include <gtest/gtest.h>

#include "kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "schedule/searched.h"
#include "schedule/structure.h"
#include "schedule/tile_sizes.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using testing::kRows;
using testing::Searched;

constexpr const char* kChain = R"(graph "chain"
symbol T in 1..24
point prompt weight 1: T = 24
input a: f32[T, 12]
input b: f32[12, 20]
input d: f32[20, 8]
value c: f32[T, 20]
value e: f32[T, 8]
value y: f32[T, 8]

block main
  node c(a, b) -> c
    op matmul(t: T, n: 20, k*: 12)
    dim T in 1..24
    in A f32[t, k]
    in B f32[k, n]
    out C f32[t, n] = sum(A * B)
  node e(c, d) -> e
    op matmul(t: T, h: 8, n*: 20)
    dim T in 1..24
    in C f32[t, n]
    in D f32[n, h]
    out E f32[t, h] = sum(C * D)
  node y(e) -> y
    op shifted(t: T, h: 8)
    dim T in 1..24
    in E f32[t, h]
    out Y f32[t, h] = E + E[t, (h + 4) mod 8]
output y
)";

class RandomNests {
public:
    RandomNests(BlockContext& block, uint64_t seed) : block_(block), random_(seed) {}

    NumberedNest operator()() {
        Structure structure = unfused(block_);
        for (size_t left = below(2 * structure.size()); left > 0; --left) {
            const std::vector<Merge> all = merges(block_, structure);
            if (all.empty()) break;
            structure = applied(block_, structure, all[below(all.size())]);
        }
        NumberedNest nest = structure[below(structure.size())];
        draw_sizes(nest);
        return nest;
    }

private:
    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }

    void draw_sizes(NumberedNest& nest) {
        const auto root = static_cast<size_t>(nest.root());
        for (NumberedNest::Loop& loop : nest.loops) {
            const auto x = static_cast<size_t>(loop.iterator);
            const std::vector<int64_t> sizes =
                tile_sizes(block_.links.operators[root].largest[x], block_.is_constant[root][x]);
            loop.tile = sizes[below(sizes.size())];
        }
        for (auto& item : nest.items)
            if (auto* inner = std::get_if<NumberedNest>(&item)) draw_sizes(*inner);
    }

    BlockContext& block_;
    std::mt19937_64 random_;
};

TEST(Legality, IsWhatLoweringAsserts) {
    for (const std::string& text : {std::string(kChain), kRows}) {
        Searched searched(text);
        RandomNests draw(searched.context(), 1);
        int legal = 0, illegal = 0;
        for (int i = 0; i < 2000; ++i) {
            const NumberedNest nest = draw();
            const std::vector<bool> is_tile = tiles_of(searched.context(), nest);
            const auto by_numbers = lowering::why_illegal(searched.context().links, nest, is_tile);
            const auto by_ranges = searched.why_no_strides(nest, is_tile);
            EXPECT_EQ(by_numbers.has_value(), by_ranges.has_value())
                << schedule::text(searched.context(), nest) << ": "
                << (by_numbers ? by_numbers : by_ranges)->text();
            ++(by_numbers ? illegal : legal);
        }
        EXPECT_GT(legal, 100);
        EXPECT_GT(illegal, 100);
    }
}

}  // namespace
}  // namespace tessera::schedule
