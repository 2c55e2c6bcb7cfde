// The kernel is cut behind the fold. The operators before the fold keep their place, under loops over the
// fold's own iterators instead of the root's; the operators after it follow the combination, under the old
// loops:
//
//   b:1 g:1 { gather; s:64 { scores; attend }; normalise }
//
//   b:1 g:1 { gather; s:64@worker { scores; attend } }   and   b:1 g:1 { attend[combine]; normalise }
//
// Which iterator of the fold is the root's follows from the ranges that lowering computes of the producers of
// one tile.
#include "search/planner/divided_folds.h"

#include <algorithm>

#include "ir/facts/parted_fold.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/ranges.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

constexpr const char* kTile = "tile";

class KernelCut {
public:
    KernelCut(const lowering::LoweringInput& input, const Block& block, const plan::KernelPlan& kernel,
              const PlannerOptions& options, const Node& fold)
        : input_(input), block_(block), kernel_(kernel), options_(options), fold_(fold) {}

    std::optional<DividedFold> cut() {
        if (needs_tiles_behind()) return std::nullopt;
        std::optional<plan::Nest> nest = front_of(kernel_.nest);
        if (!nest || !divide(*nest)) return std::nullopt;
        plan::KernelPlan front = kernel_;
        front.nest = nest::normal_form(*nest);
        if (!lowers(front)) return std::nullopt;
        for (const plan::Leaf& leaf : combinations()) {
            plan::KernelPlan behind = kernel_;
            behind.nest = nest::normal_form(back_of(kernel_.nest, leaf));
            if (lowers(behind)) return DividedFold{front, behind};
        }
        return std::nullopt;
    }

private:
    bool lowers(const plan::KernelPlan& kernel) const {
        return !lowering::why_no_strides(input_, block_, kernel);
    }

    bool holds_fold(const std::variant<plan::Leaf, plan::Nest>& child) const {
        if (const auto* leaf = std::get_if<plan::Leaf>(&child)) return leaf->node == fold_.name;
        const auto all = plan::leaves(std::get<plan::Nest>(child));
        return std::any_of(all.begin(), all.end(),
                           [&](const plan::Leaf* l) { return l->node == fold_.name; });
    }

    /// True if an operator behind the fold reads tiles that are made in front of it, and would be gone.
    bool needs_tiles_behind() const {
        const lowering::Storage storage(input_, block_);
        const std::vector<const plan::Leaf*> all = plan::leaves(kernel_.nest);
        const auto at = std::find_if(all.begin(), all.end(),
                                     [&](const plan::Leaf* leaf) { return leaf->node == fold_.name; });
        // The post-expression reads its operands with those behind.
        for (auto reader = at; reader != all.end(); ++reader) {
            for (const ValueId operand : block_.node((*reader)->node).operands) {
                const ValueId read = storage.base(operand);
                if (storage.plan_of(read).place != plan::Place::kTile) continue;
                for (auto maker = all.begin(); maker != at; ++maker) {
                    const auto& made = block_.node((*maker)->node).results;
                    const bool is_made = std::find(made.begin(), made.end(), read) != made.end();
                    if (is_made && (reader != at || is_read_by_post(operand))) return true;
                }
            }
        }
        return false;
    }

    bool is_read_by_post(ValueId operand) const {
        const Definition& definition = *fold_.definition();
        if (!definition.post) return false;
        const auto reads = reads_in({definition.post});
        return std::any_of(reads.begin(), reads.end(), [&](const Read& read) {
            return lowering::value_of(fold_, read.tensor) == operand;
        });
    }

    /// The iterator of the fold that is iterator x of the last operator of the nest; -1 if there is none.
    /// Nothing if the fold is not computed by tiles of x.
    std::optional<int> iterator_of_fold(const plan::Nest& nest, int x) const {
        std::vector<const Node*> nodes;
        for (const plan::Leaf* leaf : plan::leaves(nest)) nodes.push_back(&block_.node(leaf->node));
        lowering::Ranges ranges = lowering::whole_ranges(*nodes.back(), input_);
        lowering::Range& range = ranges[static_cast<size_t>(x)];
        const movement::Index begin =
            movement::Index::variable({kTile, {0, std::max<int64_t>(range.largest - 1, 1)}});
        range = {begin, begin + movement::Index(1), 1};
        lowering::Storage storage(input_, block_);
        lowering::NeededRanges all = lowering::needed_ranges(nodes, ranges, storage);
        if (all.refusal) return std::nullopt;
        const lowering::Ranges& needed = all.of.at(&fold_);
        for (size_t y = 0; y < needed.size(); ++y) {
            if (needed[y].begin.uses(kTile)) return static_cast<int>(y);
        }
        return -1;
    }

    /// The operators in front of the fold, and the fold; nothing if there is no such nest.
    std::optional<plan::Nest> front_of(const plan::Nest& nest) const {
        plan::Nest front;
        const Node& last = block_.node(nest.root().node);
        for (const plan::LoopTile& loop : nest.loops) {
            const int x = last.definition()->iterator(loop.iterator);
            const std::optional<int> y = &last == &fold_ ? x : iterator_of_fold(nest, x);
            if (!y) return std::nullopt;
            if (*y < 0) continue;
            front.loops.push_back({fold_.definition()->iterators[static_cast<size_t>(*y)].name, loop.tile});
        }
        for (const auto& child : nest.items) {
            if (!holds_fold(child)) {
                front.items.push_back(child);
                continue;
            }
            if (const auto* inner = std::get_if<plan::Nest>(&child)) {
                std::optional<plan::Nest> inside = front_of(*inner);
                if (!inside) return std::nullopt;
                front.items.emplace_back(*std::move(inside));
            } else {
                front.items.push_back(child);
            }
            break;
        }
        return front;
    }

    plan::Nest back_of(const plan::Nest& nest, const plan::Leaf& combine) const {
        plan::Nest back;
        const auto at = std::find_if(nest.items.begin(), nest.items.end(),
                                     [&](const auto& child) { return holds_fold(child); });
        const auto* inner = std::get_if<plan::Nest>(&*at);
        if (inner && inner->root().node != fold_.name) {
            back.items.emplace_back(back_of(*inner, combine));
        } else {
            back.items.emplace_back(combine);
        }
        back.items.insert(back.items.end(), at + 1, nest.items.end());
        if (nest.root().node != fold_.name) back.loops = nest.loops;
        return back;
    }

    /// Divides an existing loop over a reduction, or adds one that gives every worker an equal part.
    bool divide(plan::Nest& nest) const {
        for (plan::LoopTile& loop : nest.loops) {
            const int x = fold_.definition()->iterator(loop.iterator);
            const bool is_reduction = fold_.definition()->iterators[static_cast<size_t>(x)].is_reduction;
            loop.bind = is_reduction ? nest::Bind::kWorker : nest::Bind::kSerial;
            if (is_reduction) return true;
        }
        if (auto* inner = std::get_if<plan::Nest>(&nest.items.back())) return divide(*inner);
        const auto& iterators = fold_.definition()->iterators;
        int64_t longest = 1;
        for (size_t x = 0; x < iterators.size(); ++x) {
            const int64_t extent = lowering::whole_ranges(fold_, input_)[x].largest;
            if (!iterators[x].is_reduction || extent <= longest) continue;
            if (longest > 1) nest.loops.pop_back();
            const int64_t part = (extent + input_.plan.workers - 1) / input_.plan.workers;
            const int64_t tile = (part + options_.lanes - 1) / options_.lanes * options_.lanes;
            nest.loops.push_back({iterators[x].name, tile, nest::Bind::kWorker});
            longest = extent;
        }
        return longest > 1;
    }

    std::vector<plan::Leaf> combinations() const {
        const plan::MicroKernel& combine = kernels::combining_micro_kernel();
        std::vector<kernels::Candidate> offered;
        combine.candidates({fold_, input_.specialisation, options_.target(), combine}, offered);
        std::vector<plan::Leaf> found;
        for (kernels::Candidate& candidate : offered) found.push_back(std::move(candidate.leaf));
        return found;
    }

    const lowering::LoweringInput& input_;
    const Block& block_;
    const plan::KernelPlan& kernel_;
    const PlannerOptions& options_;
    const Node& fold_;
};

}  // namespace

std::vector<DividedFold> divided_folds(const lowering::LoweringInput& input, const Block& block,
                                       const plan::KernelPlan& kernel, const PlannerOptions& options) {
    std::vector<DividedFold> found;
    const lowering::Storage storage(input, block);
    for (const plan::Leaf* leaf : plan::leaves(kernel.nest)) {
        const Node& fold = block.node(leaf->node);
        const bool has_parts = facts::why_not_parted(*fold.definition()).empty() &&
                               std::none_of(fold.results.begin(), fold.results.end(), [&](ValueId result) {
                                   return storage.plan_of(result).place == plan::Place::kInPlace;
                               });
        if (!has_parts) continue;
        if (auto cut = KernelCut(input, block, kernel, options, fold).cut()) found.push_back(std::move(*cut));
    }
    return found;
}

}  // namespace tessera::planner
