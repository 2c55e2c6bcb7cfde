#include "planner/division_options.h"

#include <algorithm>

#include "movement/lower.h"
#include "movement/parts.h"
#include "planner/divided_folds.h"
#include "planner/weighted_sizes.h"
#include "support/error.h"

namespace tessera {
namespace {

/// Sizes for which work is estimated: those of the point of greatest weight within the bounds, else the
/// largest. It need not be one at which this specialisation runs: what divides the work of one token divides
/// that of a few as well, which rows of many would not.
std::map<std::string, int64_t> typical_sizes(const LoweringInput& input) {
    std::map<std::string, int64_t> sizes;
    for (const auto& [symbol, range] : input.specialisation.bounds) sizes[symbol] = range.high;
    const Point* best = nullptr;
    for (const Point& point : input.graph.points) {
        if (holds(input.specialisation, point) && (!best || point.weight > best->weight)) best = &point;
    }
    if (best) {
        for (const auto& [symbol, value] : best->values) sizes[symbol] = value;
    }
    return sizes;
}

/// By how much of an equal part a worker may have more before parts of a reduction are tried: a tile's
/// granularity costs them as much.
constexpr double kUnequal = 0.05;

int64_t rounded_up(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
}

class KernelOptions {
public:
    KernelOptions(const LoweringInput& input, const Block& block, const KernelPlan& kernel,
                  const PlannerOptions& options)
        : input_(input), block_(block), kernel_(kernel), options_(options), sizes_(typical_sizes(input)) {}

    std::vector<DivisionOption> all() {
        divide_result();
        if (!wants_parts()) return std::move(found_);
        std::vector<DivisionOption> found = std::move(found_);
        for (const DividedFold& divided : divided_folds(input_, block_, kernel_, options_)) {
            const KernelPlan& fold = divided.fold;
            found_.clear();
            const LoopTile& loop = *divided_loop(fold.nest);
            const Definition& definition = *node(root(fold.nest).node).definition();
            const int64_t extent = extent_of(definition, definition.iterator(loop.iterator), false);
            add(fold, share_of(extent, loop.tile), 1);
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
    std::vector<DivisionOption> ways_of_result() {
        divide_result();
        return std::move(found_);
    }

    void divide_result() {
        add(kernel_, 1, 1);
        KernelPlan alone = kernel_;
        alone.alone = true;
        add(alone, 1, 1);
        const Definition& definition = *node(root(kernel_.nest).node).definition();
        for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
            if (definition.iterators[static_cast<size_t>(x)].is_reduction) continue;
            const int64_t extent = extent_of(definition, x, false);
            if (extent <= 1) continue;
            for (const int64_t group : groups(definition, x)) divide(definition, x, extent, group);
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

    /// Of the worker that has most.
    double share_of(int64_t extent, int64_t group) const {
        const int64_t trips = (extent + group - 1) / group;
        const int64_t most = (trips + input_.plan.workers - 1) / input_.plan.workers;
        return static_cast<double>(std::min(most * group, extent)) / static_cast<double>(extent);
    }

    const Node& node(const std::string& name) const {
        return *std::find_if(block_.nodes.begin(), block_.nodes.end(),
                             [&](const Node& n) { return n.name == name; });
    }

    int64_t extent_of(const Definition& definition, int x, bool largest) const {
        std::vector<int64_t> dims;
        for (const DimSymbol& dim : definition.dims)
            dims.push_back(largest ? input_.specialisation.bounds.at(dim.name).high : sizes_.at(dim.name));
        return evaluate_constant(definition.iterators[static_cast<size_t>(x)].extent, dims);
    }

    void divide(const Definition& definition, int x, int64_t extent, int64_t group) {
        const int64_t workers = input_.plan.workers;
        const int64_t trips = (extent + group - 1) / group;
        const int64_t most = (trips + workers - 1) / workers;  // of worker 0
        KernelPlan divided = kernel_;
        auto& loops = divided.nest.loops;
        loops.insert(loops.begin(), {definition.iterators[static_cast<size_t>(x)].name, group, true});
        add(divided, share_of(extent, group), static_cast<double>(most));
    }

    /// `share` of what the division divides; the rest of the kernel is computed once in each of the `trips`.
    void add(const KernelPlan& kernel, double share, double trips) {
        DividedKernel divided{kernel, {}};
        try {
            divided.accesses = lower_kernel(input_, block_, kernel).accesses;
        } catch (const Error&) {
            return;
        }
        double work = 0;
        for (const Leaf* leaf : leaves(kernel.nest)) {
            const Definition& definition = *node(leaf->node).definition();
            double iterations = 1;
            for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
                if (combines_parts(*leaf) && definition.iterators[static_cast<size_t>(x)].is_reduction)
                    continue;
                iterations *= static_cast<double>(extent_of(definition, x, false));
            }
            if (combines_parts(*leaf)) iterations *= static_cast<double>(input_.plan.workers);
            const bool is_divided =
                std::any_of(divided.accesses.begin(), divided.accesses.end(), [&](const WorkerAccess& a) {
                    return a.node == leaf->node && a.is_write && !a.parts.empty();
                });
            work += iterations * (is_divided ? share : trips);
        }
        found_.push_back({{std::move(divided)}, work});
    }

    std::set<int64_t> groups(const Definition& definition, int x) const {
        const int64_t extent = extent_of(definition, x, false), workers = input_.plan.workers;
        const bool is_known = extent_of(definition, x, true) == extent && is_constant(definition, x);
        const auto equal_parts = [&](int64_t step) {
            return rounded_up((extent + workers - 1) / workers, step);
        };
        // Of an extent that varies, tiles go round: each as many rows as the register blocks have about.
        if (!is_known) return {8, options_.lanes, equal_parts(8)};
        std::set<int64_t> result = {equal_parts(1), equal_parts(options_.lanes),
                                    equal_parts(4 * options_.lanes)};
        for (const int64_t heads : known_extents()) {
            if (heads > 1 && extent % heads == 0) result.insert(equal_parts(extent / heads));
        }
        return result;
    }

    static bool is_constant(const Definition& definition, int x) {
        return std::holds_alternative<Number>(definition.iterators[static_cast<size_t>(x)].extent->node);
    }

    std::set<int64_t> known_extents() const {
        std::set<int64_t> result;
        for (const Node& n : block_.nodes) {
            const Definition& definition = *n.definition();
            for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x) {
                if (is_constant(definition, x)) result.insert(extent_of(definition, x, false));
            }
        }
        return result;
    }

    const LoweringInput& input_;
    const Block& block_;
    const KernelPlan& kernel_;
    const PlannerOptions& options_;
    std::map<std::string, int64_t> sizes_;
    std::vector<DivisionOption> found_;
};

}  // namespace

std::vector<DivisionOption> division_options(const LoweringInput& input, const Block& block,
                                             const KernelPlan& kernel, const PlannerOptions& options) {
    return KernelOptions(input, block, kernel, options).all();
}

}  // namespace tessera
