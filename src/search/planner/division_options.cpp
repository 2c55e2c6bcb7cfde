#include "search/planner/division_options.h"

#include <algorithm>
#include <cmath>

#include "cost/weighted_sizes.h"
#include "lowering/lower.h"
#include "search/planner/divided_folds.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

/// The share of an equal part by which one worker's part may exceed it before parts of a reduction are tried:
/// the granularity of tiles costs those as much.
constexpr double kUnequal = 0.05;

int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

/// At the sizes for which work is priced.
int64_t largest_extent(const Definition& definition, int x, const std::vector<cost::WeightedSizes>& sizes) {
    int64_t largest = 0;
    for (const cost::WeightedSizes& each : sizes)
        largest = std::max(largest, cost::extents_at(definition, each.symbols)[static_cast<size_t>(x)]);
    return largest;
}

bool is_constant(const Definition& definition, int x) {
    return std::holds_alternative<Number>(definition.iterators[static_cast<size_t>(x)].extent->node);
}

class KernelOptions {
public:
    KernelOptions(const lowering::LoweringInput& input, const Block& block, const plan::KernelPlan& kernel,
                  const std::set<int64_t>& known_extents, cost::PricedBlock& priced,
                  const PlannerOptions& options)
        : input_(input),
          block_(block),
          kernel_(kernel),
          known_extents_(known_extents),
          priced_(priced),
          options_(options),
          sizes_(cost::sizes_of(input.graph, input.plan, input.specialisation)) {}

    std::vector<DivisionOption> all() {
        divide_result();
        if (!wants_parts()) return std::move(found_);
        std::vector<DivisionOption> found = std::move(found_);
        for (const DividedFold& divided : divided_folds(input_, block_, kernel_, options_)) {
            found_.clear();
            add(divided.fold);
            if (found_.empty()) continue;
            const DivisionOption first = found_.front();
            for (DivisionOption& second :
                 KernelOptions(input_, block_, divided.combine, known_extents_, priced_, options_)
                     .ways_of_result()) {
                second.seconds += first.seconds;
                second.kernels.insert(second.kernels.begin(), first.kernels.front());
                found.push_back(std::move(second));
            }
        }
        return found;
    }

private:
    std::vector<DivisionOption> ways_of_result() {
        divide_result();
        return std::move(found_);
    }

    void divide_result() {
        add(kernel_);
        plan::KernelPlan alone = kernel_;
        alone.alone = true;
        add(alone);
        const Definition& definition = *block_.node(kernel_.nest.root().node).definition();
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
            if (definition.iterators[static_cast<size_t>(x)].is_reduction) continue;
            if (largest_extent_of(definition, x) <= 1) continue;
            for (const int64_t group : groups(definition, x)) divide(definition, x, group);
        }
    }

    /// Parts cost a barrier at least.
    bool wants_parts() const {
        const double whole = found_.front().seconds, part = whole / static_cast<double>(input_.plan.workers);
        const double least =
            std::ranges::min_element(found_, {}, [](const auto& each) { return each.seconds; })->seconds;
        return least - part > std::max(priced_.evaluator.barrier_seconds(), part * kUnequal);
    }

    int64_t largest_extent_of(const Definition& definition, int x) const {
        return largest_extent(definition, x, sizes_);
    }

    void divide(const Definition& definition, int x, int64_t group) {
        plan::KernelPlan divided = kernel_;
        auto& loops = divided.nest.loops;
        loops.insert(loops.begin(),
                     {definition.iterators[static_cast<size_t>(x)].name, group, nest::Bind::kWorker});
        add(divided);
    }

    void add(const plan::KernelPlan& kernel) {
        lowering::LoweredKernel lowered = lowering::lowered_kernel(input_, block_, kernel);
        auto* const code = std::get_if<movement::Kernel>(&lowered);
        if (!code) return;
        DividedKernel divided{kernel, std::move(code->accesses)};
        double seconds = priced_.evaluator(kernel.nest, priced_.is_tile).seconds;
        // A kernel that cannot be priced is computed undivided.
        if (found_.empty() && !std::isfinite(seconds)) seconds = 0;
        if (std::isfinite(seconds)) found_.push_back({{std::move(divided)}, seconds});
    }

    std::set<int64_t> groups(const Definition& definition, int x) const {
        const int64_t extent = largest_extent_of(definition, x), workers = input_.plan.workers;
        const auto equal_parts = [&](int64_t step) {
            return rounded_up((extent + workers - 1) / workers, step);
        };
        // Tiles of a varying extent go round; each has about as many rows as the register blocks
        // and holds whole tiles of the kernel.
        if (!is_constant(definition, x)) {
            const int64_t tile = tile_of(definition, x);
            return {rounded_up(8, tile), rounded_up(options_.lanes, tile), equal_parts(rounded_up(8, tile))};
        }
        std::set<int64_t> result = {equal_parts(1), equal_parts(options_.lanes),
                                    equal_parts(4 * options_.lanes)};
        for (const int64_t heads : known_extents_) {
            if (heads > 1 && extent % heads == 0) result.insert(equal_parts(extent / heads));
        }
        return result;
    }

    /// The tile of the kernel's own loop over the iterator; 1 if there is none.
    int64_t tile_of(const Definition& definition, int x) const {
        for (const plan::LoopTile& loop : kernel_.nest.loops)
            if (loop.iterator == definition.iterators[static_cast<size_t>(x)].name)
                return std::min(loop.tile, largest_extent_of(definition, x));
        return 1;
    }

    const lowering::LoweringInput& input_;
    const Block& block_;
    const plan::KernelPlan& kernel_;
    const std::set<int64_t>& known_extents_;
    cost::PricedBlock& priced_;
    const PlannerOptions& options_;
    std::vector<cost::WeightedSizes> sizes_;
    std::vector<DivisionOption> found_;
};

}  // namespace

std::set<int64_t> known_extents(const lowering::LoweringInput& input, const Block& block) {
    const std::vector<cost::WeightedSizes> sizes =
        cost::sizes_of(input.graph, input.plan, input.specialisation);
    std::set<int64_t> result;
    for (const Node& node : block.nodes) {
        const Definition& definition = *node.definition();
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x)
            if (is_constant(definition, x)) result.insert(largest_extent(definition, x, sizes));
    }
    return result;
}

std::vector<DivisionOption> division_options(const lowering::LoweringInput& input, const Block& block,
                                             const plan::KernelPlan& kernel,
                                             const std::set<int64_t>& known_extents,
                                             cost::PricedBlock& priced, const PlannerOptions& options) {
    return KernelOptions(input, block, kernel, known_extents, priced, options).all();
}

}  // namespace tessera::planner
