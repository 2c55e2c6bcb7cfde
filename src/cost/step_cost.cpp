// Two steps are walked, so that the second one finds the caches as steps leave them. The clock counts the
// bytes that a worker touches: a tensor is still in a cache that holds all bytes touched since a kernel began
// to read it, or had written half of it.
//
//   clock   0        n           n+p          ..          step
//           | norm   | product   | norm       |           | norm
//           |        | writes x  | reads x, which was written at n + p/2 and lies p/2 bytes back
//
// Values that other workers have written lie in their caches: behind a barrier they come from the nearest
// level that all of them share.
#include "cost/step_cost.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "cost/priced_block.h"
#include "lowering/lower.h"
#include "lowering/worker_parts.h"
#include "support/error.h"

namespace tessera::cost {
namespace {

class StepCosts {
public:
    StepCosts(const Graph& graph, const plan::Plan& plan, const plan::SpecialisationPlan& pinned,
              const std::map<std::string, int64_t>& symbols, const CostModel& model)
        : graph_(graph),
          plan_(plan),
          constants_(plan::constant_section(graph, plan)),
          input_(lowering::lowering_input(graph, plan, pinned, constants_)),
          model_(model),
          shared_(shared_level()) {
        for (const Block& block : graph.blocks) {
            PricedBlock& priced = blocks_.emplace_back(
                input_, block, std::vector<WeightedSizes>{{1, symbols}}, model_, outermost());
            for (size_t k = 0; k < pinned.kernels.size(); ++k)
                if (pinned.kernels[k].block == block.name) add(block, priced, pinned.kernels[k], k);
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
        PricedBlock* priced;
        Evaluator::Numbered numbered;
        std::vector<Evaluator::Touched> touched;
        bool is_met = false;                           ///< all workers meet before it
        std::vector<movement::WorkerAccess> accesses;  ///< empty for one worker
        bool is_divided = false;
        KernelCost cost;
    };

    /// The last access to most of a storage; accesses to a small part are not remembered.
    struct Touch {
        double clock = 0;
        double bytes = 0;
        int64_t written = -1;  ///< meetings of the workers before it was written last
        const std::vector<movement::WorkerAccess>* accesses = nullptr;  ///< of the kernel that did
    };

    size_t outermost() const { return model_.machine().memory.size() - 1; }

    /// The nearest level that all workers share.
    size_t shared_level() const {
        const std::vector<machine::MemoryLevel>& memory = model_.machine().memory;
        size_t level = 0;
        while (level < outermost() && memory[level].shared_by_cores < plan_.workers) ++level;
        return level;
    }

    using Accesses = std::vector<movement::WorkerAccess>;

    /// True if each worker reads only what it has written itself.
    bool is_own(const Accesses& written, const Accesses& now, ValueId storage) const {
        const std::string& name = graph_[storage].name;
        std::optional<std::vector<movement::WorkerPart>> common;
        for (const Accesses* accesses : {&written, &now})
            for (const movement::WorkerAccess& access : *accesses) {
                if (access.value != name || (access.by_all && access.is_write)) continue;
                if (!common) common = access.parts;
                lowering::keep_common(*common, access.parts);
            }
        return !common || !common->empty();
    }

    void add(const Block& block, PricedBlock& priced, const plan::KernelPlan& plan, size_t position) {
        Kernel kernel{&block, &priced, priced.evaluator.numbered(plan.nest, priced.is_tile), {}, false, {},
                      false,  {}};
        if (kernel.numbered.kernel.is_legal())
            kernel.touched = priced.evaluator.touched(kernel.numbered.kernel, priced.is_tile);
        kernel.cost.block = block.name;
        kernel.cost.name = plan.nest.root().node;
        kernel.cost.kernel = position;
        kernel.cost.repeat = block.repeat;
        kernel.is_met = plan.barrier;
        if (plan_.workers > 1) kernel.accesses = lowering::lower_kernel(input_, block, plan).accesses;
        kernel.is_divided =
            std::ranges::any_of(kernel.accesses, [](const auto& access) { return !access.by_all; });
        if (plan.barrier) kernel.cost.barrier_seconds = model_.barrier_seconds(plan_.workers);
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
        std::map<ValueId, size_t> levels;
        double bytes = 0;
        meetings_ += kernel.is_met;
        for (const Evaluator::Touched& touched : kernel.touched) bytes += touched.bytes;
        if (kernel.is_divided) bytes /= static_cast<double>(plan_.workers);
        for (const Evaluator::Touched& touched : kernel.touched) {
            Touch& last = touched_[key(touched.storage, repetition)];
            size_t& level = levels[touched.storage];
            // Storage that was never touched, or only in part, comes from the main memory.
            level = 2 * last.bytes < touched.bytes ? outermost()
                                                   : kernel.priced->evaluator.level_of(clock_ - last.clock);
            if (last.written >= 0 && last.written < meetings_ &&
                !is_own(*last.accesses, kernel.accesses, touched.storage))
                level = std::max(level, shared_);
            if (touched.is_written) {
                last.written = meetings_;
                last.accesses = &kernel.accesses;
            }
            if (2 * touched.bytes >= last.bytes) {
                last.clock = clock_ + (touched.is_written ? bytes / 2 : 0);
                last.bytes = std::max(touched.bytes, last.bytes);
            }
        }
        clock_ += bytes;
        const Evaluation found =
            kernel.priced->evaluator.after_others(kernel.numbered, kernel.priced->is_tile, levels);
        KernelCost& cost = kernel.cost;
        cost.near_seconds = found.compute;
        cost.stall_seconds = found.stalls;
        cost.why_infinite = found.why_infinite;
        cost.seconds = found.seconds + cost.barrier_seconds;
        cost.levels = traffic_of(found, model_, plan_.workers);
    }

    /// Each repetition of a block has its own constants and states.
    std::pair<ValueId, int64_t> key(ValueId value, int64_t repetition) const {
        value = state_of(graph_, value);  // the new contents are the old ones, in place
        const Value& stored = graph_[value];
        const bool is_own = stored.kind == ValueKind::kState || stored.repetitions() > 1;
        return {value, is_own ? repetition : 0};
    }

    const Graph& graph_;
    const plan::Plan& plan_;
    const plan::ConstantSection constants_;
    const lowering::LoweringInput input_;
    const CostModel& model_;
    const size_t shared_;
    int64_t meetings_ = 0;
    std::deque<PricedBlock> blocks_;
    std::vector<Kernel> kernels_;
    std::map<std::pair<ValueId, int64_t>, Touch> touched_;
    double clock_ = 0;
};

}  // namespace

std::vector<KernelCost> step_costs(const Graph& graph, const plan::Plan& plan,
                                   const plan::SpecialisationPlan& specialisation,
                                   const std::map<std::string, int64_t>& symbols, const CostModel& model) {
    plan::SpecialisationPlan pinned = specialisation;
    for (auto& [symbol, bounds] : pinned.bounds) {
        const int64_t value = symbols.at(symbol);
        TESSERA_CHECK(bounds.low <= value && value <= bounds.high, "{} = {}", symbol, value);
        bounds = {value, value};
    }
    return StepCosts(graph, plan, pinned, symbols, model).run();
}

double total_seconds(const std::vector<KernelCost>& costs) {
    double seconds = 0;
    for (const KernelCost& cost : costs) seconds += cost.seconds * static_cast<double>(cost.repeat);
    return seconds;
}

}  // namespace tessera::cost
