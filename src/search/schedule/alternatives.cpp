#include "search/schedule/alternatives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace tessera::schedule {
namespace {

/// The kernel with another leaf of one operator, for each that can be computed.
std::vector<SolvedKernel> with_other_leaves(BlockContext& block, const SolvedKernel& kernel) {
    const std::vector<bool> is_tile = tiles_of(block, kernel.nest);
    const lowering::TiledKernel tiled = lowering::tiled_kernel(block.links, kernel.nest, is_tile);
    // Both are estimated undivided, since a leaf changes little of how work is divided.
    const double before = block.evaluator(tiled, kernel.leaves, is_tile).seconds;
    std::vector<SolvedKernel> others;
    for (size_t i = 0; i < kernel.leaves.size(); ++i) {
        const auto op = static_cast<size_t>(tiled.operators[i].op);
        for (const int leaf : block.leaves[op]) {
            if (leaf == kernel.leaves[i]) continue;
            SolvedKernel other = kernel;
            other.leaves[i] = leaf;
            other.cost = block.evaluator(tiled, other.leaves, is_tile);
            other.seconds = kernel.seconds * other.cost.seconds / before;
            if (std::isfinite(other.seconds)) others.push_back(std::move(other));
        }
    }
    return others;
}

std::string key_of(const BlockContext& block, const SolvedKernel& kernel) {
    return fmt::format("{} {}\n", text(block, kernel.nest), fmt::join(kernel.leaves, ","));
}

/// Kernels that were lowered, each once: the memo of leaves may be too hasty, or know nothing of these.
class Lowered {
public:
    explicit Lowered(BlockContext& block) : block_(block) {}

    bool operator()(const Alternative& alternative) {
        if (!block_.why_not_lowered) return true;
        return std::ranges::all_of(alternative.kernels, [&](const SolvedKernel& kernel) {
            const auto [at, is_new] = known_.emplace(key_of(block_, kernel), false);
            if (is_new)
                at->second =
                    !block_.why_not_lowered(kernel.nest, kernel.leaves, tiles_of(block_, kernel.nest));
            return at->second;
        });
    }

private:
    BlockContext& block_;
    std::map<std::string, bool> known_;
};

}  // namespace

std::string key_of(const BlockContext& block, const Alternative& alternative) {
    std::string key;
    for (const SolvedKernel& kernel : alternative.kernels) key += key_of(block, kernel);
    return key;
}

std::vector<Alternative> alternatives(BlockContext& block, const Schedule& schedule,
                                      const SearchOptions& options, size_t most) {
    std::vector<Alternative> all;
    for (const Structure& structure : schedule.cheapest) {
        Alternative best;
        std::vector<std::vector<SolvedKernel>> choices;
        for (const lowering::NumberedNest& kernel : structure) {
            int64_t work = 0;
            choices.push_back(best_tiles(block, kernel, options.tiles, most, work));
            if (choices.back().empty()) break;
            best.kernels.push_back(choices.back().front());
            best.seconds += best.kernels.back().seconds;
        }
        if (best.kernels.size() < structure.size()) continue;
        all.push_back(best);
        for (size_t k = 0; k < choices.size(); ++k) {
            for (SolvedKernel& other : with_other_leaves(block, choices[k].front()))
                choices[k].push_back(std::move(other));
            for (const SolvedKernel& other : choices[k]) {
                Alternative changed = best;
                changed.seconds += other.seconds - best.kernels[k].seconds;
                changed.kernels[k] = other;
                all.push_back(std::move(changed));
            }
        }
    }
    std::ranges::stable_sort(all, {}, &Alternative::seconds);
    std::vector<Alternative> best;
    std::set<std::string> known;
    Lowered lowers(block);
    for (Alternative& each : all) {
        if (best.size() == most) break;
        if (known.insert(key_of(block, each)).second && lowers(each)) best.push_back(std::move(each));
    }
    return best;
}

}  // namespace tessera::schedule
