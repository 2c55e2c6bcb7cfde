#include "cost/published.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cost/evaluated_kernel.h"
#include "ir/facts/work.h"
#include "support/error.h"

namespace tessera::cost {

using lowering::TiledLoop;
using lowering::TiledOperator;

machine::PeakRates peak_rates(const CostModel& model, int64_t workers) {
    const machine::Machine& machine = model.machine();
    double peak = 0;
    for (const machine::ComputeUnit& unit : machine.units) peak = std::max(peak, machine::peak(unit));
    if (peak == 0)
        throw Error(machine.name, "peaks", "are missing of all units, and the published model needs them",
                    "measure the machine again, or choose --cost nncase");
    const machine::MemoryLevel& memory = machine.memory.back();
    const machine::ReadBandwidth* rate = machine::find_bandwidth(memory, workers);
    if (!rate)
        throw Error(
            machine.name, memory.name,
            fmt::format("has no read_bandwidth of at most {} threads, and the published model needs it",
                        workers),
            "measure the machine again, or choose --cost nncase");
    return {.bytes_per_second = rate->bytes_per_second,
            .operations_per_second = static_cast<double>(workers) * peak,
            .units = workers};
}

Published published_on(machine::PublishedModel model, const CostModel& costs, int64_t workers) {
    if (model == machine::PublishedModel::kNncase) return {model};
    return {model, peak_rates(costs, workers)};
}

/// The nest as MCFuser's model sees it, at one point.
class Evaluator::OfKernel::Blocks {
public:
    Blocks(const OfKernel& kernel, const std::vector<bool>& is_tile)
        : of_(kernel), is_tile_(is_tile), root_(kernel.kernel_.operators.back()) {
        while (depth_ < root_.loops.size() && is_of_blocks(root_.loops[depth_])) ++depth_;
    }

    double count() const {
        double blocks = 1;
        for (size_t j = 0; j < depth_; ++j) blocks *= trips(root_.loops[j]);
        return blocks;
    }

    double flops() const {
        double sum = 0;
        for (const TiledOperator& op : of_.kernel_.operators) {
            const facts::WorkRates& work = of_.facts(op).work;
            const Definition& definition = definition_of(op);
            const auto all = [](int) { return true; };
            const auto held = [&](int x) { return facts::holds(definition, x); };
            const auto parallel = [&](int x) {
                return !definition.iterators[static_cast<size_t>(x)].is_reduction;
            };
            sum +=
                flops_of(work, executed(op, all, Repeats::kAlways),
                         definition.monoid == Monoid::kSoftmaxSum ? executed(op, held, Repeats::kAlways) : 0,
                         executed(op, parallel, Repeats::kNotByReductions));
        }
        return sum;
    }

    double bytes() const {
        double sum = 0;
        for (const TiledOperator& op : of_.kernel_.operators) {
            const std::vector<Tensor>& tensors = of_.facts(op).tensors;
            for (size_t t = 0; t < tensors.size(); ++t) {
                if (definition_of(op).tensors[t].role == Role::kIndex ||
                    is_in_tiles(op, tensors[t], is_tile_))
                    continue;
                if (tensors[t].is_result)
                    sum += stored(op, t);
                else if (!is_kept(tensors[t]))
                    sum += moved(op, t, op.loops.size(), Repeats::kAlways);
            }
        }
        return sum;
    }

private:
    enum class Repeats : uint8_t { kAlways, kNotByReductions };

    const Definition& definition_of(const TiledOperator& op) const {
        return *of_.evaluator_.links_.operators[static_cast<size_t>(op.op)].node->definition();
    }

    /// The kernel makes the tensor: its readers find a tile of it, though it is stored, too.
    bool is_kept(const Tensor& tensor) const {
        return std::ranges::any_of(of_.kernel_.operators,
                                   [&](const TiledOperator& op) { return op.op == tensor.producer; });
    }

    /// The loop belongs to the last operator's own brace, around all operators.
    bool is_of_blocks(int at) const {
        const TiledLoop& loop = of_.kernel_.loops[static_cast<size_t>(at)];
        return !of_.evaluator_.links_.operators[static_cast<size_t>(loop.op)].is_reduction(loop.iterator) &&
               std::ranges::all_of(of_.kernel_.operators,
                                   [&](const TiledOperator& op) { return contains(op.loops, at); });
    }

    /// Tiles of the range that the loop runs over, perhaps with a part of one: those of all workers, whatever
    /// predicates leave out.
    double part(int loop) const {
        const TiledLoop& tiled = of_.kernel_.loops[static_cast<size_t>(loop)];
        const int64_t around = tiled.outer >= 0 ? of_.sizes_[static_cast<size_t>(tiled.outer)]
                                                : of_.extent_of(tiled.op, tiled.iterator);
        return static_cast<double>(std::max<int64_t>(1, around)) /
               static_cast<double>(of_.sizes_[static_cast<size_t>(loop)]);
    }
    double trips(int loop) const { return std::ceil(part(loop)); }

    /// Iterations of these iterators in all executions.
    template <typename IsOne>
    double executed(const TiledOperator& op, const IsOne& is_one, Repeats repeats) const {
        double points = 1;
        for (size_t x = 0; x < op.ranges.size(); ++x)
            if (is_one(static_cast<int>(x)))
                points *= static_cast<double>(of_.within(op, op.loops.size())[x]);
        for (const int loop : op.loops) {
            bool is_part = false, is_reduction = false;
            for (int x = 0; x < static_cast<int>(op.ranges.size()); ++x) {
                if (!lowering::changes(of_.kernel_, loop, op, x)) continue;
                is_part = is_part || is_one(x);
                is_reduction =
                    is_reduction || definition_of(op).iterators[static_cast<size_t>(x)].is_reduction;
            }
            if (is_part)
                points *= part(loop);
            else if (!is_reduction || repeats == Repeats::kAlways)
                points *= trips(loop);
        }
        return points;
    }

    /// Bytes of a tensor's tiles within the first `depth` loops, one for each time that it changes or a block
    /// begins.
    double moved(const TiledOperator& op, size_t t, size_t depth, Repeats repeats) const {
        const Tensor& tensor = of_.facts(op).tensors[t];
        size_t last = depth;  // behind the innermost loop that changes the tile
        while (last > depth_ &&
               !(of_.runs_with(op, tensor, op.loops[last - 1]) && part(op.loops[last - 1]) > 1))
            --last;
        double bytes = of_.bytes_within(op, t, last);
        for (size_t j = 0; j < last; ++j) {
            const int loop = op.loops[j];
            if (of_.runs_with(op, tensor, loop))
                bytes *= part(loop);
            else if (repeats == Repeats::kAlways || !of_.folds(op, loop))
                bytes *= trips(loop);
        }
        return bytes;
    }

    /// Stores, and loads of sums that were stored before they were complete. The operator's own brace keeps
    /// the results of one that others follow.
    double stored(const TiledOperator& op, size_t t) const {
        size_t depth = op.loops.size();
        if (&op != &root_)
            while (depth > 0 && of_.kernel_.loops[static_cast<size_t>(op.loops[depth - 1])].op == op.op)
                --depth;
        const double stores = moved(op, t, depth, Repeats::kAlways);
        return 2 * stores - moved(op, t, depth, Repeats::kNotByReductions);
    }

    const OfKernel& of_;
    const std::vector<bool>& is_tile_;
    const TiledOperator& root_;
    size_t depth_ = 0;  ///< of the loops whose trips are blocks
};

void Evaluator::OfKernel::price_as_published(const std::vector<bool>& is_tile, Evaluation& sum) const {
    const machine::PeakRates& rates = evaluator_.published_->rates;
    sum.stalls = 0;
    if (evaluator_.published_->model == machine::PublishedModel::kNncase) {
        sum.seconds =
            machine::nncase_seconds(std::accumulate(sum.levels.begin(), sum.levels.end(), 0.0), sum.compute);
        return;
    }
    double flops = 0, bytes = 0;
    if (evaluator_.published_->model == machine::PublishedModel::kMcfuser) {
        const Blocks blocks(*this, is_tile);
        flops = blocks.flops();
        bytes = blocks.bytes();
        sum.seconds = machine::mcfuser_times(bytes, flops, blocks.count(), rates).estimate;
    } else {
        std::map<int, double> storages;
        for (const TiledOperator& tiled : kernel_.operators) {
            flops += evaluator_.flops(tiled.op, point_);
            evaluator_.for_each_seen(tiled.op, point_, is_tile, [&](int t, double seen) {
                double& most = storages[facts(tiled).tensors[static_cast<size_t>(t)].storage];
                most = std::max(most, seen);
            });
        }
        for (const auto& [storage, seen] : storages) bytes += seen;
        sum.seconds = machine::roofline_seconds(flops, bytes, rates);
    }
    sum.compute = flops / rates.operations_per_second;
    std::ranges::fill(sum.levels, 0);
    sum.levels.back() = bytes / rates.bytes_per_second;
}

}  // namespace tessera::cost
