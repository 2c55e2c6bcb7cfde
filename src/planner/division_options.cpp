#include "planner/division_options.h"

#include <algorithm>
#include <functional>

#include "cost/weighted_sizes.h"
#include "lowering/lower.h"
#include "lowering/parts.h"
#include "planner/divided_folds.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

/// Sizes for which work is estimated, with weights whose sum is 1: where the specialisation runs; and, though
/// it need not run there, at the point of greatest weight within its bounds, which then counts as much as the
/// first of the others. A division that suits one token suits a few tokens as well; a division by the rows of
/// many tokens would not.
std::vector<cost::WeightedSizes> sizes_of_work(const lowering::LoweringInput& input) {
    std::vector<cost::WeightedSizes> found = cost::sizes_of(input.graph, input.plan, input.specialisation);
    if (const Point* heaviest = cost::heaviest_point(input.graph, input.specialisation)) {
        cost::WeightedSizes sizes = found.front();
        for (const auto& [symbol, value] : heaviest->values) sizes.symbols[symbol] = value;
        const auto is_same = [&](const cost::WeightedSizes& other) { return other.symbols == sizes.symbols; };
        if (std::none_of(found.begin(), found.end(), is_same)) found.push_back(std::move(sizes));
    }
    double all = 0;
    for (const cost::WeightedSizes& sizes : found) all += sizes.weight;
    for (cost::WeightedSizes& sizes : found) sizes.weight /= all;
    return found;
}

/// The share of an equal part by which one worker's part may exceed it before parts of a reduction are tried:
/// the granularity of tiles costs those as much.
constexpr double kUnequal = 0.05;

int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

class KernelOptions {
public:
    KernelOptions(const lowering::LoweringInput& input, const Block& block, const plan::KernelPlan& kernel,
                  const PlannerOptions& options)
        : input_(input), block_(block), kernel_(kernel), options_(options), sizes_(sizes_of_work(input)) {}

    std::vector<DivisionOption> all() {
        divide_result();
        if (!wants_parts()) return std::move(found_);
        std::vector<DivisionOption> found = std::move(found_);
        for (const DividedFold& divided : divided_folds(input_, block_, kernel_, options_)) {
            const plan::KernelPlan& fold = divided.fold;
            found_.clear();
            const plan::LoopTile& loop = *plan::divided_loop(fold.nest);
            const Definition& definition = *block_.node(plan::root(fold.nest).node).definition();
            const int x = definition.iterator(loop.iterator);
            add(fold, [&](const Sizes& sizes) {
                return Share{share_of(extent_of(definition, x, sizes), loop.tile).divided, 1};
            });
            if (found_.empty()) continue;
            const DivisionOption first = found_.front();
            for (DivisionOption& second :
                 KernelOptions(input_, block_, divided.combine, options_).ways_of_result()) {
                second.work += first.work;
                second.kernels.insert(second.kernels.begin(), first.kernels.front());
                found.push_back(std::move(second));
            }
        }
        return found;
    }

private:
    using Sizes = std::map<std::string, int64_t>;
    /// The worker that has most: its share of the divided work, and how often it computes the rest.
    struct Share {
        double divided = 1, trips = 1;
    };

    std::vector<DivisionOption> ways_of_result() {
        divide_result();
        return std::move(found_);
    }

    void divide_result() {
        const auto everything = [](const Sizes&) { return Share{}; };
        add(kernel_, everything);
        plan::KernelPlan alone = kernel_;
        alone.alone = true;
        add(alone, everything);
        const Definition& definition = *block_.node(plan::root(kernel_.nest).node).definition();
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
            if (definition.iterators[static_cast<size_t>(x)].is_reduction) continue;
            if (largest_extent_of(definition, x) <= 1) continue;
            for (const int64_t group : groups(definition, x)) divide(definition, x, group);
        }
    }

    /// Parts cost a barrier at least.
    bool wants_parts() const {
        const double whole = found_.front().work, part = whole / static_cast<double>(input_.plan.workers);
        const double least = std::min_element(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
                                 return a.work < b.work;
                             })->work;
        return least - part > std::max(options_.iterations_of_a_barrier, part * kUnequal);
    }

    Share share_of(int64_t extent, int64_t group) const {
        const int64_t trips = (extent + group - 1) / group;
        const int64_t most = (trips + input_.plan.workers - 1) / input_.plan.workers;  // of worker 0
        return {static_cast<double>(std::min(most * group, extent)) / static_cast<double>(extent),
                static_cast<double>(most)};
    }

    static int64_t extent_of(const Definition& definition, int x, const Sizes& sizes) {
        std::vector<int64_t> dims;
        for (const DimSymbol& dim : definition.dims) dims.push_back(sizes.at(dim.name));
        return evaluate_constant(definition.iterators[static_cast<size_t>(x)].extent, dims);
    }

    /// The largest extent at the sizes for which work is estimated.
    int64_t largest_extent_of(const Definition& definition, int x) const {
        int64_t largest = 0;
        for (const cost::WeightedSizes& sizes : sizes_)
            largest = std::max(largest, extent_of(definition, x, sizes.symbols));
        return largest;
    }

    void divide(const Definition& definition, int x, int64_t group) {
        plan::KernelPlan divided = kernel_;
        auto& loops = divided.nest.loops;
        loops.insert(loops.begin(), {definition.iterators[static_cast<size_t>(x)].name, group, true});
        add(divided, [&](const Sizes& sizes) { return share_of(extent_of(definition, x, sizes), group); });
    }

    void add(const plan::KernelPlan& kernel, const std::function<Share(const Sizes&)>& share_at) {
        DividedKernel divided{kernel, {}};
        try {
            divided.accesses = lowering::lower_kernel(input_, block_, kernel).accesses;
        } catch (const Error&) {
            return;
        }
        double work = 0;
        for (const cost::WeightedSizes& sizes : sizes_)
            work += sizes.weight * work_of(divided, sizes.symbols, share_at(sizes.symbols));
        found_.push_back({{std::move(divided)}, work});
    }

    double work_of(const DividedKernel& divided, const Sizes& sizes, const Share& share) const {
        double work = 0;
        for (const plan::Leaf* leaf : plan::leaves(divided.kernel.nest)) {
            const Definition& definition = *block_.node(leaf->node).definition();
            double iterations = 1;
            for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
                if (lowering::combines_parts(*leaf) &&
                    definition.iterators[static_cast<size_t>(x)].is_reduction)
                    continue;
                iterations *= static_cast<double>(extent_of(definition, x, sizes));
            }
            if (lowering::combines_parts(*leaf)) iterations *= static_cast<double>(input_.plan.workers);
            const bool is_divided = std::any_of(
                divided.accesses.begin(), divided.accesses.end(), [&](const movement::WorkerAccess& a) {
                    return a.node == leaf->node && a.is_write && !a.parts.empty();
                });
            work += iterations * (is_divided ? share.divided : share.trips);
        }
        return work;
    }

    std::set<int64_t> groups(const Definition& definition, int x) const {
        const int64_t extent = largest_extent_of(definition, x), workers = input_.plan.workers;
        const auto equal_parts = [&](int64_t step) {
            return rounded_up((extent + workers - 1) / workers, step);
        };
        // Tiles of a varying extent go round; each has about as many rows as the register blocks.
        // Behind a search they hold whole tiles of the kernel.
        if (!is_constant(definition, x)) {
            const int64_t tile = options_.structures > 0 ? tile_of(definition, x) : 1;
            return {rounded_up(8, tile), rounded_up(options_.lanes, tile), equal_parts(rounded_up(8, tile))};
        }
        std::set<int64_t> result = {equal_parts(1), equal_parts(options_.lanes),
                                    equal_parts(4 * options_.lanes)};
        for (const int64_t heads : known_extents()) {
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

    static bool is_constant(const Definition& definition, int x) {
        return std::holds_alternative<Number>(definition.iterators[static_cast<size_t>(x)].extent->node);
    }

    std::set<int64_t> known_extents() const {
        std::set<int64_t> result;
        for (const Node& n : block_.nodes) {
            const Definition& definition = *n.definition();
            for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
                if (is_constant(definition, x)) result.insert(largest_extent_of(definition, x));
            }
        }
        return result;
    }

    const lowering::LoweringInput& input_;
    const Block& block_;
    const plan::KernelPlan& kernel_;
    const PlannerOptions& options_;
    std::vector<cost::WeightedSizes> sizes_;
    std::vector<DivisionOption> found_;
};

}  // namespace

std::vector<DivisionOption> division_options(const lowering::LoweringInput& input, const Block& block,
                                             const plan::KernelPlan& kernel, const PlannerOptions& options) {
    return KernelOptions(input, block, kernel, options).all();
}

}  // namespace tessera::planner
