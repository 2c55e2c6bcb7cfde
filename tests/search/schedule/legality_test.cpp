// Legality as a value against lowering: random nests are legal exactly if a kernel of `loops` lowers.
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "search/schedule/searched.h"
#include "search/schedule/structure.h"
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

/// Products under a predicate, whose first result lies in rows of a length that is not known.
constexpr const char* kScores = R"(graph "scores"
symbol T in 1..24
symbol S in 1..40
point prompt weight 1: T = 24, S = 40
input q: f32[T, 2, 16]
input k: f32[S, 16]
value scores: f32[T, 2, S]
value y: f32[T, 2, 16]

block main
  node scores(q, k) -> scores
    op scores(t: T, r: 2, s: S, e*: 16)
    dim T in 1..24
    dim S in 1..40
    in Q f32[t, r, e]
    in K f32[s, e]
    out X f32[t, r, s] = sum(Q * K)
    where s <= t
  node y(scores, k) -> y
    op attend(t: T, r: 2, e: 16, s*: S)
    dim T in 1..24
    dim S in 1..40
    in X f32[t, r, s]
    in K f32[s, e]
    out Y f32[t, r, e] = sum(X * K)
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

    /// One of each operator's leaves.
    std::vector<int> leaves(const NumberedNest& nest) {
        std::vector<int> all;
        for (const int op : nest.operators()) {
            const std::vector<int>& some = block_.leaves[static_cast<size_t>(op)];
            all.push_back(some[below(some.size())]);
        }
        return all;
    }

private:
    size_t below(size_t end) { return static_cast<size_t>(random_() % end); }

    void draw_sizes(NumberedNest& nest) {
        const auto root = static_cast<size_t>(nest.root());
        for (NumberedNest::Loop& loop : nest.loops) {
            const auto x = static_cast<size_t>(loop.iterator);
            const int64_t extent = block_.links.operators[root].largest[x];
            loop.tile = below(4) == 0 ? extent : 1 + static_cast<int64_t>(below(static_cast<size_t>(extent)));
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

/// No nest with such a leaf lowers that has the same results in tiles.
TEST(Legality, RefusalsOfAllTilesHoldForAllTiles) {
    for (const char* text : {kChain, kScores}) {
        Searched searched(text);
        BlockContext& block = searched.context();
        RandomNests draw(block, 2);
        using Places = std::vector<bool>;
        std::set<std::tuple<int, int, Places>> refused;  ///< operator, family of leaves, results in tiles
        std::vector<std::pair<std::vector<std::tuple<int, int, Places>>, std::string>> lowered;
        for (int i = 0; i < 3000; ++i) {
            const NumberedNest nest = draw();
            const Places is_tile = tiles_of(block, nest);
            if (lowering::why_illegal(block.links, nest, is_tile)) continue;
            const std::vector<int> leaves = draw.leaves(nest);
            const std::vector<int> operators = nest.operators();
            const auto refusal = searched.why_no_strides(nest, leaves, is_tile);
            std::vector<std::tuple<int, int, Places>> kernel;
            for (size_t at = 0; at < leaves.size(); ++at) {
                kernel.emplace_back(operators[at], block.evaluator.family(leaves[at]), is_tile);
                const std::string& name =
                    block.links.operators[static_cast<size_t>(operators[at])].node->name;
                if (refusal && refusal->is_of_all_tiles && refusal->where == name)
                    refused.insert(kernel.back());
            }
            if (!refusal) lowered.emplace_back(kernel, schedule::text(block, nest));
        }
        EXPECT_GT(lowered.size(), 100U);
        EXPECT_EQ(refused.empty(), std::string_view(text) == kChain);
        for (const auto& [kernel, nest] : lowered)
            for (const auto& leaf : kernel) EXPECT_FALSE(refused.contains(leaf)) << nest;
    }
}

}  // namespace
}  // namespace tessera::schedule
