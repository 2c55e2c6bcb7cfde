#include "search/schedule/solve_tiles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "search/schedule/divided_cost.h"
#include "search/schedule/least_of_tiles.h"
#include "search/schedule/loop_orders.h"
#include "search/schedule/open_tiles.h"
#include "search/tiles/solve.h"
#include "support/hash_vector.h"

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;

/// Larger buffers must save more than the error of estimates.
constexpr double kAlike = 1.02;

/// The share of its time that loops around a product must save.
constexpr double kMistrust = 0.02;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

class TileSolver {
public:
    TileSolver(BlockContext& block, const NumberedNest& kernel, const TileOptions& options, int64_t& work)
        : block_(block),
          open_(kernel),
          nest_(kernel),
          is_tile_(tiles_of(block, kernel)),
          options_(options),
          work_(work) {
        ++work_;
        variables_ = whole_tiles(block, nest_, is_tile_);
    }

    /// The best choices, `most` of them if that many lower.
    std::vector<SolvedKernel> run(size_t most) {
        std::vector<SolvedKernel> best_ones;
        if (!lowering::tiled_kernel(block_.links, nest_, is_tile_).is_legal()) return best_ones;
        double choices = 1;
        for (const OpenTile& variable : variables_) choices *= static_cast<double>(variable.sizes.size());
        const bool is_proved = choices <= static_cast<double>(options_.evaluations);
        if (is_proved) {
            try_all(0);
        } else {
            descend(true);
            descend(false);
            if (options_.nodes > 0) prove();
        }
        for (int64_t refused = 0; refused < options_.refusals;) {
            Found* best = best_by_rank();
            if (!best && !price_the_rest()) return best_ones;
            if (!best) continue;
            const TiledKernel tiled = lowering::tiled_kernel(block_.links, best->nest, is_tile_);
            if (has_refused(*best, tiled)) {
                least_ = kInfinite;
                price(*best, tiled);
            } else if (const auto refusal = why_not_lowered(*best, tiled); !refusal) {
                if (!is_proved && !best->has_neighbours) {
                    best->has_neighbours = true;
                    try_neighbours(best->sizes);
                } else {
                    if (is_proved && best_ones.empty()) bound_ = least_;
                    best_ones.push_back({best->nest, best->leaves, best->cost, best->seconds, bound_});
                    if (best_ones.size() == most) return best_ones;
                    take_out(*best);
                }
            } else if (!learn_from(*best, tiled, *refusal)) {
                ++refused;
                take_out(*best);
            }
            find_least();
        }
        return best_ones;
    }

private:
    struct Found {
        double seconds = kInfinite;
        NumberedNest nest;
        std::vector<int> leaves;
        cost::Evaluation cost;
        std::vector<int64_t> sizes = {};  ///< of the variables
        size_t loops = 0;
        bool has_neighbours = false;  ///< these were tried
        bool is_taken_out = false;    ///< it does not lower, or is among the best
    };

    static void take_out(Found& found) {
        found.is_taken_out = true;
        found.seconds = kInfinite;
    }

    /// Ranks buffers that leave room for other data in the innermost cache as equally small.
    std::tuple<double, double, size_t, double> rank(const Found& found) const {
        return {std::max(found.cost.buffer_bytes, block_.evaluator.capacity(0) / 2), found.cost.calls,
                found.loops, found.seconds};
    }

    void try_all(size_t at) {
        if (at == variables_.size()) {
            (void)evaluate();
            return;
        }
        for (const int64_t size : variables_[at].sizes) {
            variables_[at].loop->tile = size;
            try_all(at + 1);
        }
    }

    /// Descends from the largest tiles, or from tiles of one value in all loops over results.
    void descend(bool from_largest) {
        for (const OpenTile& variable : variables_)
            variable.loop->tile = from_largest ? variable.sizes.back() : variable.sizes.front();
        double best = evaluate();
        for (bool is_better = true; is_better;) {
            is_better = false;
            for (const OpenTile& variable : variables_) {
                int64_t chosen = variable.loop->tile;
                for (const int64_t size : variable.sizes) {
                    variable.loop->tile = size;
                    const double seconds = evaluate();
                    if (seconds < best) {
                        best = seconds;
                        chosen = size;
                        is_better = true;
                    }
                }
                variable.loop->tile = chosen;
            }
        }
    }

    /// Tries the choices that a bound does not rule out, until none may take less by more than nests of about
    /// the same time differ.
    void prove() {
        if (block_.evaluator.is_published()) return;
        const std::optional<tiles::Problem> problem = least_of_tiles(block_, open_, is_tile_, options_.least);
        if (!problem) return;
        const auto price = [&](const tiles::Assignment& sizes) {
            for (size_t i = 0; i < sizes.size(); ++i) variables_[i].loop->tile = sizes[i];
            return evaluate();
        };
        bound_ =
            tiles::solve(
                *problem,
                {.nodes = options_.nodes, .incumbent = best_sizes(), .price = price, .gap = 1 - 1 / kAlike})
                .bound;
    }

    std::optional<tiles::Assignment> best_sizes() const {
        for (const auto& [sizes, found] : tried_)
            if (found.seconds <= least_ && found.seconds < kInfinite) return found.sizes;
        return std::nullopt;
    }

    /// The choice of the best rank among those with about the least time.
    Found* best_by_rank() {
        Found* best = nullptr;
        for (auto& [sizes, found] : tried_) {
            if (!(found.seconds < kInfinite) || found.seconds > kAlike * least_) continue;
            if (!best || rank(found) < rank(*best)) best = &found;
        }
        return best;
    }

    void find_least() {
        least_ = kInfinite;
        for (const auto& [sizes, found] : tried_) least_ = std::min(least_, found.seconds);
    }

    /// Prices the choices that were left out beside faster ones, which have all been taken out since.
    /// @return true if one can be computed
    bool price_the_rest() {
        for (auto& [sizes, found] : tried_) {
            if (found.is_taken_out) continue;
            least_ = kInfinite;
            price(found, lowering::tiled_kernel(block_.links, found.nest, is_tile_));
        }
        find_least();
        return least_ < kInfinite;
    }

    /// Tries choices that differ in one size: they may take about as long and have a better rank.
    void try_neighbours(const std::vector<int64_t>& sizes) {
        for (const OpenTile& variable : variables_) {
            for (size_t i = 0; i < sizes.size(); ++i) variables_[i].loop->tile = sizes[i];
            for (const int64_t size : variable.sizes) {
                variable.loop->tile = size;
                (void)evaluate();
            }
        }
    }

    double evaluate() {
        ++work_;
        const std::vector<int64_t> sizes = present_sizes();
        const auto known = by_sizes_.find(sizes);
        const Found* found = known == by_sizes_.end() ? tried(sizes) : known->second;
        if (!found) return kInfinite;
        return found->seconds;
    }

    std::vector<int64_t> present_sizes() const {
        std::vector<int64_t> sizes;
        sizes.reserve(variables_.size());
        for (const OpenTile& variable : variables_) sizes.push_back(variable.loop->tile);
        return sizes;
    }

    /// The nest for these sizes; null if it is illegal.
    Found* tried(const std::vector<int64_t>& sizes) {
        const TiledKernel tiled = lowering::tiled_kernel(block_.links, nest_, is_tile_);
        Found*& known = by_sizes_[sizes];
        if (!tiled.is_legal() || !is_in_space(block_, tiled)) return nullptr;
        const auto [at, is_new] = tried_.try_emplace(key_of(tiled));
        known = &at->second;
        if (!is_new) return known;
        at->second.nest = lowering::without_lone_loops(nest_, tiled.is_kept);
        at->second.sizes = sizes;
        price(at->second, tiled);
        least_ = std::min(least_, at->second.seconds);
        return known;
    }

    /// Prices the fastest leaves; infinite if that is far from the least.
    void price(Found& found, const TiledKernel& tiled) {
        found.leaves.clear();
        found.seconds = kInfinite;
        // A price without calls of micro-kernels may be less than their time.
        const double most = block_.evaluator.is_of_all_workers()
                                ? kInfinite
                                : kAlike * least_ * static_cast<double>(block_.evaluator.workers());
        double compute = 0, in_loops = 0;
        const std::vector<cost::Evaluator::Part> parts = block_.evaluator.parts(tiled);
        for (size_t i = 0; i < tiled.operators.size(); ++i) {
            const auto [leaf, seconds] = cheapest_leaf(block_, tiled, i, parts[i], is_tile_);
            found.leaves.push_back(leaf);
            compute += seconds;
            if (!(compute < most)) return;
            if (!block_.evaluator.is_published() && is_product_in_loops(block_, tiled, i, leaf))
                in_loops += seconds;
        }
        found.cost = block_.evaluator(tiled, found.leaves, is_tile_);
        if (block_.evaluator.workers() > 1 && !block_.evaluator.is_of_all_workers() &&
            found.cost.seconds < most)
            found.cost = divided_cost(block_, found.nest, found.leaves, is_tile_, found.cost, work_);
        found.seconds = with_mistrust(found.cost, in_loops, block_.evaluator.workers());
        found.loops = tiled.loops.size();
    }

    /// The loops that are kept, with their tiles.
    static std::vector<int64_t> key_of(const TiledKernel& tiled) {
        std::vector<int64_t> key;
        size_t loop = 0;
        for (const bool is_kept : tiled.is_kept) key.push_back(is_kept ? tiled.loops[loop++].tile : 0);
        return key;
    }

    LeafMemo::Kind kind_of(const TiledKernel& tiled, size_t at) const {
        return LeafMemo::kind_of(block_.links, tiled, at, is_tile_);
    }

    bool has_refused(const Found& found, const TiledKernel& tiled) const {
        for (size_t i = 0; i < found.leaves.size(); ++i)
            if (block_.memo.of(kind_of(tiled, i)).has_refused(found.leaves[i])) return true;
        return false;
    }

    /// Known without lowering if each leaf has lowered in a part of this kind.
    std::optional<lowering::Refusal> why_not_lowered(const Found& found, const TiledKernel& tiled) {
        if (!block_.why_not_lowered) return std::nullopt;
        if (block_.illegal.contains(text(block_, found.nest))) return lowering::Refusal{};
        bool is_known = true;
        for (size_t i = 0; i < found.leaves.size() && is_known; ++i)
            is_known = block_.memo.of(kind_of(tiled, i)).has_accepted(found.leaves[i]);
        if (is_known) return std::nullopt;
        if (auto refusal = block_.why_not_lowered(found.nest, found.leaves, is_tile_)) return refusal;
        for (size_t i = 0; i < found.leaves.size(); ++i)
            block_.memo.accept(kind_of(tiled, i), found.leaves[i]);
        return std::nullopt;
    }

    /// Remembers the leaf that the refusal blames, whatever the others are; else the leaves that do not lower
    /// beside plain ones. @return false if all do
    bool learn_from(const Found& found, const TiledKernel& tiled, const lowering::Refusal& refusal) {
        for (size_t i = 0; refusal.is_of_all_tiles && i < found.leaves.size(); ++i) {
            const auto op = static_cast<size_t>(tiled.operators[i].op);
            if (block_.links.operators[op].node->name != refusal.where) continue;
            block_.memo.refuse(kind_of(tiled, i), found.leaves[i], true);
            block_.cheapest.clear();
            return true;
        }
        std::vector<int> plain = found.leaves;
        for (size_t i = 0; i < plain.size(); ++i)
            if (!is_folded_in_parts(block_.links, tiled, i))
                plain[i] = block_.plain_leaves[static_cast<size_t>(tiled.operators[i].op)];
        // Leaves that fold in parts come first: there are no plain ones to replace them.
        bool has_learned = false;
        const auto try_leaf = [&](size_t i) {
            std::vector<int> leaves = plain;
            leaves[i] = found.leaves[i];
            if (!block_.why_not_lowered(found.nest, leaves, is_tile_)) return;
            has_learned = true;
            block_.memo.refuse(kind_of(tiled, i), found.leaves[i]);
        };
        for (size_t i = 0; i < plain.size(); ++i)
            if (is_folded_in_parts(block_.links, tiled, i)) try_leaf(i);
        for (size_t i = 0; i < plain.size() && !has_learned; ++i)
            if (plain[i] != found.leaves[i]) try_leaf(i);
        if (has_learned) block_.cheapest.clear();
        return has_learned;
    }

    BlockContext& block_;
    const NumberedNest& open_;  ///< as it is stated
    NumberedNest nest_;         ///< with the tiles of a choice
    const std::vector<bool> is_tile_;
    const TileOptions& options_;
    int64_t& work_;
    std::vector<OpenTile> variables_;
    double least_ = kInfinite, bound_ = 0;
    std::map<std::vector<int64_t>, Found> tried_;  ///< by the tiles of loops that are kept
    std::unordered_map<std::vector<int64_t>, Found*, HashVector> by_sizes_;  ///< of the variables
};

/// True if the kernel waits for transfers: then the order of its loops matters, which decides what is reread.
bool waits(const SolvedKernel& kernel) {
    return kernel.cost.seconds > kAlike * (kernel.cost.compute + kernel.cost.stalls);
}

}  // namespace

bool is_proved(const SolvedKernel& kernel) {
    return kernel.seconds <= kAlike * kAlike * kernel.bound;
}

double with_mistrust(const cost::Evaluation& cost, double in_loops, int64_t workers) {
    return cost.seconds + kMistrust * in_loops / static_cast<double>(workers);
}

bool is_product_in_loops(const BlockContext& block, const TiledKernel& kernel, size_t at, int leaf) {
    return block.evaluator.leaf(leaf).kernel->product.n && !kernel.operators[at].loops.empty();
}

std::optional<SolvedKernel> solve_tiles(BlockContext& block, const NumberedNest& kernel,
                                        const TileOptions& options, int64_t& work) {
    std::vector<SolvedKernel> best = best_tiles(block, kernel, options, 1, work);
    if (best.empty()) return std::nullopt;
    return std::move(best.front());
}

std::vector<SolvedKernel> best_tiles(BlockContext& block, const NumberedNest& kernel,
                                     const TileOptions& options, size_t most, int64_t& work) {
    std::vector<SolvedKernel> best = TileSolver(block, kernel, options, work).run(most);
    if (most > 1) std::ranges::stable_sort(best, {}, &SolvedKernel::seconds);
    if (best.empty() || !waits(best.front())) return best;
    const double seconds = best.front().seconds;
    double bound = best.front().bound;
    for (const NumberedNest& order : other_orders(block, kernel))
        for (SolvedKernel& other : TileSolver(block, order, options, work).run(most)) {
            bound = std::min(bound, other.bound);
            if (kAlike * other.seconds < seconds || most > 1) best.push_back(std::move(other));
        }
    std::ranges::stable_sort(best, {}, &SolvedKernel::seconds);
    if (best.size() > most) best.resize(most);
    for (SolvedKernel& each : best) each.bound = bound;
    return best;
}

}  // namespace tessera::schedule
