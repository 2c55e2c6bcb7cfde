#include "search/schedule/divided_cost.h"

#include <algorithm>

namespace tessera::schedule {
namespace {

using lowering::NumberedNest;
using lowering::TiledKernel;
using lowering::TiledOperator;

/// Parts of a reduction must save more than this share of an equal part: each worker reads its operands in
/// pieces.
constexpr double kUnequal = 0.05;

class Dividing {
public:
    Dividing(BlockContext& block, const std::vector<int>& leaves, const std::vector<bool>& is_tile,
             const cost::Evaluation& whole, int64_t& work)
        : block_(block), leaves_(leaves), is_tile_(is_tile), whole_(whole), best_(whole), work_(work) {}

    cost::Evaluation run(const NumberedNest& kernel) {
        const int64_t workers = block_.evaluator.workers();
        const lowering::BlockLinks::Operator& root =
            block_.links.operators[static_cast<size_t>(kernel.root())];
        for (int x = 0; x < static_cast<int>(root.largest.size()); ++x) {
            const int64_t extent = root.largest[static_cast<size_t>(x)];
            if (root.is_reduction(x) || extent < 2) continue;
            NumberedNest divided = kernel;
            divided.loops.insert(divided.loops.begin(),
                                 {x, (extent + workers - 1) / workers, nest::Bind::kWorker});
            const TiledKernel tiled = lowering::tiled_kernel(block_.links, divided, is_tile_);
            if (tiled.is_legal() && does_divide_stores(tiled)) keep_if_less(tiled, 0);
        }
        if (stores_beside_root(kernel)) return best_;
        const double extra =
            block_.evaluator.barrier_seconds() + kUnequal * whole_.seconds / static_cast<double>(workers);
        NumberedNest divided = kernel;
        for_each_loop(divided, [&](int op, NumberedNest::Loop& loop) {
            if (!block_.links.operators[static_cast<size_t>(op)].is_reduction(loop.iterator)) return;
            loop.bind = nest::Bind::kWorker;
            keep_if_less(lowering::tiled_kernel(block_.links, divided, is_tile_), extra);
            loop.bind = nest::Bind::kSerial;
        });
        return best_;
    }

private:
    void keep_if_less(const TiledKernel& tiled, double extra) {
        ++work_;
        if (!tiled.is_legal()) return;
        cost::Evaluation cost = block_.evaluator(tiled, leaves_, is_tile_);
        cost.seconds += extra;
        if (cost.seconds < best_.seconds) best_ = std::move(cost);
    }

    /// True if the outermost loop gives each worker its own elements of all results that other kernels
    /// read.
    bool does_divide_stores(const TiledKernel& tiled) const {
        return std::ranges::all_of(tiled.operators, [&](const TiledOperator& op) {
            const auto& results = block_.links.operators[static_cast<size_t>(op.op)].results;
            return is_tile_[static_cast<size_t>(op.op)] ||
                   std::ranges::all_of(results, [&](const lowering::BlockLinks::Result& result) {
                       return std::ranges::any_of(result.used,
                                                  [&](int x) { return lowering::changes(tiled, 0, op, x); });
                   });
        });
    }

    /// Only the root may have parts of a reduction.
    bool stores_beside_root(const NumberedNest& kernel) const {
        const std::vector<int> all = kernel.operators();
        return std::ranges::any_of(
            all, [&](int op) { return op != kernel.root() && !is_tile_[static_cast<size_t>(op)]; });
    }

    template <typename Visit>
    static void for_each_loop(NumberedNest& nest, const Visit& visit) {
        const int root = nest.root();
        for (NumberedNest::Loop& loop : nest.loops) visit(root, loop);
        for (auto& item : nest.items)
            if (auto* inner = std::get_if<NumberedNest>(&item)) for_each_loop(*inner, visit);
    }

    BlockContext& block_;
    const std::vector<int>& leaves_;
    const std::vector<bool>& is_tile_;
    const cost::Evaluation& whole_;
    cost::Evaluation best_;
    int64_t& work_;
};

}  // namespace

cost::Evaluation divided_cost(BlockContext& block, const NumberedNest& kernel, const std::vector<int>& leaves,
                              const std::vector<bool>& is_tile, const cost::Evaluation& whole,
                              int64_t& work) {
    return Dividing(block, leaves, is_tile, whole, work).run(kernel);
}

}  // namespace tessera::schedule
