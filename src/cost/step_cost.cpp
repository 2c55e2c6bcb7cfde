// Two steps are walked, so that the second one finds the caches as steps leave them. The clock counts bytes:
// a tensor is still in a cache that holds all bytes touched since the last kernel that touched the tensor
// began.
//
//   clock   0        w1          w1+x1        ..          step
//           | norm   | product   | norm       |           | norm      reads what was written at w1: it lies
//           |        | writes x  | reads x    |           |           w1 + x1 - 0 bytes back
#include "cost/step_cost.h"

#include <algorithm>
#include <limits>

#include "cost/kernel_traffic.h"
#include "lowering/tensor_layouts.h"
#include "support/error.h"

namespace tessera::cost {
namespace {

class StepCosts {
public:
    StepCosts(const Graph& graph, const plan::Plan& plan, const plan::SpecialisationPlan& pinned,
              const SizePoint& point, const CostModel& model)
        : graph_(graph),
          plan_(plan),
          constants_(plan::constant_section(graph, plan)),
          input_(lowering::lowering_input(graph, plan, pinned, constants_)),
          model_(model) {
        for (const Block& block : graph.blocks) {
            for (size_t k = 0; k < pinned.kernels.size(); ++k) {
                if (pinned.kernels[k].block != block.name) continue;
                add(block, pinned.kernels[k], point);
                kernels_.back().cost.kernel = k;
            }
        }
    }

    std::vector<KernelCost> run() {
        pass();
        pass();
        std::vector<KernelCost> costs;
        for (Kernel& kernel : kernels_) costs.push_back(std::move(kernel.cost));
        return costs;
    }

private:
    struct Kernel {
        const Block* block;
        KernelTraffic traffic;
        double share;  ///< of the worker with most, of what is divided
        std::map<ValueId, double> stall_per_byte;
        KernelCost cost;
        int64_t bytes = 0;  ///< that it touches
    };

    /// The last access to most of a storage; accesses to a small part are not remembered.
    struct Touch {
        int64_t clock = 0;  ///< when that kernel began
        int64_t bytes = 0;
    };

    void add(const Block& block, const plan::KernelPlan& plan, const SizePoint& point) {
        const KernelTiles tiles = leaf_tiles(input_, block, plan);
        Kernel kernel{&block, kernel_traffic(input_, block, tiles, point), tiles.share, {}, {}};
        KernelCost& cost = kernel.cost;
        cost.block = block.name;
        cost.name = plan::root(plan.nest).node;
        cost.repeat = block.repeat;
        if (plan.barrier) cost.barrier_seconds = model_.barrier_seconds(plan_.workers);
        const lowering::Storage storage(input_, block);
        for (const LeafTile& tile : tiles.leaves) {
            const LeafCost leaf =
                model_.leaf(*tile.node->definition(), *tile.leaf, tile.extents,
                            lowering::layouts_of(graph_, plan_, *tile.node, input_.specialisation));
            if (!leaf.why_infinite.empty() && cost.why_infinite.empty())
                cost.why_infinite = fmt::format("{}: {}", tile.node->name, leaf.why_infinite);
            const BoundExtents whole = bound_extents(
                *tile.node->definition(), dims_of(*tile.node->definition(), point.symbols), tile.node->name);
            double calls = kernel.traffic.executed.at(tile.node) * (tile.divided.empty() ? 1 : tiles.share);
            for (size_t x = 0; x < tile.extents.size(); ++x)
                calls *= static_cast<double>(whole.iterators[x]) / static_cast<double>(tile.extents[x]);
            cost.near_seconds += calls * leaf.near_seconds;
            for (const ValueId operand : tile.node->operands) {
                double& stall = kernel.stall_per_byte[storage.base(operand)];
                stall = std::max(stall, leaf.stall_per_byte);
            }
        }
        for (const auto& [value, traffic] : kernel.traffic.storages)
            kernel.bytes += std::max(traffic.read_bytes, traffic.written_bytes);
        kernels_.push_back(std::move(kernel));
    }

    void pass() {
        for (size_t begin = 0; begin < kernels_.size();) {
            const Block& block = *kernels_[begin].block;
            size_t end = begin;
            while (end < kernels_.size() && kernels_[end].block == &block) ++end;
            for (int64_t repetition = 0; repetition < block.repeat; ++repetition) {
                for (size_t k = begin; k < end; ++k) visit(kernels_[k], repetition);
            }
            begin = end;
        }
    }

    /// Charges a repetition, and remembers what it touches.
    void visit(Kernel& kernel, int64_t repetition) {
        std::map<size_t, double> bytes;  // by level
        double stall = 0;
        for (const auto& [value, traffic] : kernel.traffic.storages) {
            const double share = traffic.is_divided ? kernel.share : 1;
            const int64_t touched = std::max(traffic.read_bytes, traffic.written_bytes);
            Touch& last = touched_[key(value, repetition)];
            // Storage that was never touched, or only in part, comes from the main memory.
            const size_t outermost = model_.machine().memory.size() - 1;
            const size_t level = 2 * last.bytes < touched ? outermost : level_of(clock_ - last.clock);
            if (2 * touched >= last.bytes) last = {clock_, std::max(touched, last.bytes)};
            const double read = share * static_cast<double>(traffic.read_bytes);
            const double written = share * static_cast<double>(traffic.written_bytes);
            // A line that is written to memory is read first.
            bytes[level] += read + (level == outermost ? 2 : 1) * written;
            if (traffic.is_streamed)
                stall += read * model_.stall_per_byte(kernel.stall_per_byte.at(value), level, plan_.workers);
        }
        clock_ += kernel.bytes;
        KernelCost& cost = kernel.cost;
        cost.stall_seconds = stall;
        cost.levels.clear();
        double waiting = 0;
        const size_t nearest = kernel.traffic.has_product ? model_.near_level() : 0;
        for (const auto& [level, count] : bytes) {
            if (level <= nearest || count == 0) continue;
            const double seconds = count * model_.seconds_per_byte(level, plan_.workers);
            waiting += seconds;
            cost.levels.push_back({model_.machine().memory[level].name, count, seconds});
        }
        cost.seconds = cost.why_infinite.empty()
                           ? std::max(cost.near_seconds + stall, waiting) + cost.barrier_seconds
                           : std::numeric_limits<double>::infinity();
    }

    /// Each repetition of a block has its own constants and states.
    std::pair<ValueId, int64_t> key(ValueId value, int64_t repetition) const {
        value = state_of(graph_, value);  // the new contents are the old ones, in place
        const Value& stored = graph_[value];
        const bool is_own = stored.kind == ValueKind::kState || stored.repetitions() > 1;
        return {value, is_own ? repetition : 0};
    }

    size_t level_of(int64_t distance) const {
        size_t level = 0;
        while (level + 1 < model_.machine().memory.size() && model_.capacity(level, plan_.workers) < distance)
            ++level;
        return level;
    }

    const Graph& graph_;
    const plan::Plan& plan_;
    const plan::ConstantSection constants_;
    const lowering::LoweringInput input_;
    const CostModel& model_;
    std::vector<Kernel> kernels_;
    std::map<std::pair<ValueId, int64_t>, Touch> touched_;
    int64_t clock_ = 0;
};

}  // namespace

std::vector<KernelCost> step_costs(const Graph& graph, const plan::Plan& plan,
                                   const plan::SpecialisationPlan& specialisation, const SizePoint& point,
                                   const CostModel& model) {
    plan::SpecialisationPlan pinned = specialisation;
    for (auto& [symbol, bounds] : pinned.bounds) {
        const int64_t value = point.symbols.at(symbol);
        TESSERA_CHECK(bounds.low <= value && value <= bounds.high, "{} = {}", symbol, value);
        bounds = {value, value};
    }
    return StepCosts(graph, plan, pinned, point, model).run();
}

double total_seconds(const std::vector<KernelCost>& costs) {
    double seconds = 0;
    for (const KernelCost& cost : costs) seconds += cost.seconds * static_cast<double>(cost.repeat);
    return seconds;
}

}  // namespace tessera::cost
