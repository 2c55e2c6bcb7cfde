#include "cost/evaluate.h"

#include <limits>

#include "cost/evaluated_kernel.h"
#include "lowering/numbered_nest.h"

namespace tessera::cost {

using lowering::TiledKernel;

namespace {

/// Time of a call of a product beyond what the table shows, since it lists long calls: addresses, the first
/// loads and the last stores, some 30 cycles.
constexpr double kCallSeconds = 10e-9;

Evaluation impossible(const lowering::BrokenRule& broken, const lowering::BlockLinks& links) {
    return {.seconds = std::numeric_limits<double>::infinity(),
            .why_infinite = lowering::refusal(broken, *links.graph).text()};
}

}  // namespace

double Evaluator::seconds_of(const LeafCost& cost) {
    return cost.near_seconds + seconds_of_calls(cost);
}

double Evaluator::seconds_of_calls(const LeafCost& cost) {
    return cost.calls * kCallSeconds;
}

double Evaluator::barrier_seconds() const {
    if (published_) return 0;
    double weights = 0;
    for (const WeightedSizes& point : points_) weights += point.weight;
    return weights * model_.barrier_seconds(workers_);
}

Evaluator::Part Evaluator::part(const TiledKernel& kernel, size_t at) {
    return parts(kernel)[at];
}

std::vector<Evaluator::Part> Evaluator::parts(const TiledKernel& kernel) {
    std::vector<Part> parts(kernel.operators.size());
    for (size_t p = 0; p < points_.size(); ++p) {
        const OfKernel here(*this, kernel, p);
        for (size_t at = 0; at < parts.size(); ++at) {
            const lowering::TiledOperator& tiled = kernel.operators[at];
            parts[at].extents.push_back(number_of_extents(tiled.op, here.extents(tiled, tiled.loops.size())));
            parts[at].executions.push_back(here.executions(tiled, tiled.loops.size()));
        }
    }
    return parts;
}

double Evaluator::compute(const Part& part, int leaf) {
    double seconds = 0;
    for (size_t p = 0; p < points_.size(); ++p) {
        const LeafCost& cost = price(leaf, part.extents[p]);
        if (!cost.why_infinite.empty()) return std::numeric_limits<double>::infinity();
        seconds += points_[p].weight * seconds_of(cost) * part.executions[p];
    }
    return seconds;
}

Evaluator::Numbered Evaluator::numbered(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    Numbered found{lowering::tiled_kernel(links_, lowering::numbered(links_, nest), is_tile), {}};
    for (const plan::Leaf* leaf : plan::leaves(nest))
        found.leaves.push_back(number_of(links_.find(leaf->node), *leaf));
    return found;
}

std::vector<Evaluation> Evaluator::at_points(const TiledKernel& kernel, std::span<const int> leaves,
                                             const std::vector<bool>& is_tile) {
    std::vector<Evaluation> all;
    for (size_t p = 0; p < points_.size(); ++p)
        all.push_back(OfKernel(*this, kernel, p).evaluate(leaves, is_tile));
    return all;
}

Evaluation Evaluator::operator()(const TiledKernel& kernel, std::span<const int> leaves,
                                 const std::vector<bool>& is_tile) {
    Evaluation mean = mean_of(at_points(kernel, leaves, is_tile));
    mean.buffer_bytes = OfKernel(*this, kernel, points_.size()).buffer_bytes(is_tile);
    return mean;
}

Evaluation Evaluator::operator()(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    const Numbered found = numbered(nest, is_tile);
    if (found.kernel.broken) return impossible(*found.kernel.broken, links_);
    return (*this)(found.kernel, found.leaves, is_tile);
}

std::vector<Evaluation> Evaluator::at_points(const plan::Nest& nest, const std::vector<bool>& is_tile) {
    const Numbered found = numbered(nest, is_tile);
    if (found.kernel.broken)
        return std::vector<Evaluation>(points_.size(), impossible(*found.kernel.broken, links_));
    return at_points(found.kernel, found.leaves, is_tile);
}

std::vector<Evaluator::Touched> Evaluator::touched(const TiledKernel& kernel,
                                                   const std::vector<bool>& is_tile) {
    std::map<ValueId, Touched> by_storage;
    OfKernel(*this, kernel, 0).for_each_touched(is_tile, [&](int number, double bytes, bool is_result) {
        const ValueId storage = storages_[static_cast<size_t>(number)];
        Touched& touched = by_storage[storage];
        touched.storage = storage;
        touched.bytes = std::max(touched.bytes, bytes);
        touched.is_written = touched.is_written || is_result;
    });
    std::vector<Touched> found;
    for (const auto& [storage, touched] : by_storage) found.push_back(touched);
    return found;
}

std::vector<Evaluator::Buffer> Evaluator::buffers(const TiledKernel& kernel,
                                                  const std::vector<bool>& is_tile) {
    std::vector<Buffer> found;
    OfKernel(*this, kernel, points_.size())
        .for_each_buffer(is_tile, [&](const Tensor& tensor, double bytes, double footprint) {
            found.push_back({storages_[static_cast<size_t>(tensor.storage)], bytes, level_of(footprint)});
        });
    return found;
}

double Evaluator::tile_bytes(const TiledKernel& kernel) {
    return OfKernel(*this, kernel, points_.size()).tile_bytes();
}

Evaluation Evaluator::after_others(const Numbered& kernel, const std::vector<bool>& is_tile,
                                   const std::map<ValueId, size_t>& levels) {
    if (kernel.kernel.broken) return impossible(*kernel.kernel.broken, links_);
    OfKernel here(*this, kernel.kernel, 0);
    here.found_in = [&](const Tensor& tensor) {
        return levels.at(storages_[static_cast<size_t>(tensor.storage)]);
    };
    return here.evaluate(kernel.leaves, is_tile);
}

Evaluation Evaluator::mean_of(const std::vector<Evaluation>& at_points) const {
    Evaluation mean;
    mean.levels.resize(capacity_.size());
    for (size_t p = 0; p < points_.size(); ++p) {
        const double weight = points_[p].weight;
        const Evaluation& here = at_points[p];
        mean.compute += weight * here.compute;
        mean.calls += weight * here.calls;
        mean.stalls += weight * here.stalls;
        for (size_t level = 0; level < capacity_.size(); ++level)
            mean.levels[level] += weight * here.levels[level];
        mean.seconds += weight * here.seconds;
        if (mean.why_infinite.empty()) mean.why_infinite = here.why_infinite;
    }
    return mean;
}

}  // namespace tessera::cost
