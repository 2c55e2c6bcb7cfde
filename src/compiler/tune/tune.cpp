#include "compiler/tune/tune.h"

#include <algorithm>
#include <map>
#include <set>
#include <variant>

#include <fmt/ranges.h>

#include "compiler/measure/program_calls.h"
#include "compiler/planner_options.h"
#include "compiler/tune/lone_kernel.h"
#include "cost/weighted_sizes.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/lower.h"
#include "lowering/movement/verify_program.h"
#include "lowering/plan/constants.h"
#include "search/planner/default_planner.h"
#include "search/planner/place_buffers.h"
#include "support/error.h"

namespace tessera::tune {
namespace {

/// A round that finds nothing faster than the best so far by this factor is the last one.
constexpr double kConverged = 0.99;
/// Among choices whose times differ by less than this factor, the search's preference decides.
constexpr double kAlike = 0.98;

using Operators = std::set<std::string>;

/// The node, and the operators that update a state which it reads: one graph has them all.
Operators inseparable(const Block& block, const Node& node) {
    Operators operators = {node.name};
    for (const Node& other : block.nodes)
        if (other.previous && std::ranges::find(node.operands, other.results.front()) != node.operands.end())
            operators.insert(other.name);
    return operators;
}

/// The operators of each kernel of the specialisation whose predicted time is noticeable. Kernels that fold
/// parts of one operator are one, as are those that update a state and read it.
std::vector<Operators> kernels_of(const Subject& subject, const plan::SpecialisationPlan& specialisation,
                                  double least_share) {
    const cost::CostModel model(subject.machine);
    std::map<size_t, double> seconds;  // by kernel
    double whole = 0;
    for (const Point& point : cost::points_of(subject.graph, subject.plan, specialisation)) {
        for (const cost::KernelCost& kernel : cost::step_costs(subject.graph, subject.plan, specialisation,
                                                               subject.sizes(point).symbols, model)) {
            const double each = point.weight * static_cast<double>(kernel.repeat) * kernel.seconds;
            seconds[kernel.kernel] += each;
            whole += each;
        }
    }
    std::vector<std::pair<Operators, double>> kernels;
    for (size_t k = 0; k < specialisation.kernels.size(); ++k) {
        const plan::KernelPlan& kernel = specialisation.kernels[k];
        const auto block = std::ranges::find(subject.graph.blocks, kernel.block, &Block::name);
        std::pair<Operators, double> own = {{}, seconds[k]};
        for (const plan::Leaf* leaf : plan::leaves(kernel.nest))
            own.first.merge(inseparable(*block, block->node(leaf->node)));
        const auto is_apart = [&](const std::pair<Operators, double>& other) {
            return std::ranges::none_of(own.first,
                                        [&](const auto& name) { return other.first.contains(name); });
        };
        const auto same = std::stable_partition(kernels.begin(), kernels.end(), is_apart);
        for (auto other = same; other != kernels.end(); ++other) {
            own.first.merge(other->first);
            own.second += other->second;
        }
        kernels.erase(same, kernels.end());
        kernels.push_back(std::move(own));
    }
    std::ranges::stable_sort(kernels, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<Operators> noticeable;
    for (const auto& [operators, each] : kernels)
        if (each >= least_share * whole) noticeable.push_back(operators);
    return noticeable;
}

class KernelTuning {
public:
    KernelTuning(const Subject& subject, const plan::SpecialisationPlan& specialisation,
                 const Operators& operators, const TuneOptions& options)
        : subject_(subject),
          options_(options),
          lone_(lone_kernel(subject.graph, subject.plan, specialisation, operators)),
          planning_(compiler::planner_options(subject.machine, subject.plan.workers)) {
        planning_.constant_bytes = plan::constant_section(subject.graph, subject.plan).bytes;
        planning_.alternatives = options.top * static_cast<size_t>(options.rounds);
        planning_.samples = options.samples;
        planning_.seed = options.seed;
    }

    /// The fastest comes first; of those that are about as fast the one that the search prefers. Empty if no
    /// choice can be compiled alone.
    std::vector<planner::MeasuredChoice> run(measure::PinnedThreads& threads) {
        const planner::Alternatives all =
            planner::alternatives(lone_.graph, lone_.plan, kLoneBlock, planning_);
        std::vector<planner::MeasuredChoice> measured;
        const auto measure = [&](std::span<const planner::Alternative> some) {
            for (planner::MeasuredChoice& choice : round(some, threads))
                measured.push_back(std::move(choice));
        };
        for (size_t begin = 0; begin < all.samples.size(); begin += options_.top)
            measure(
                std::span(all.samples).subspan(begin, std::min(options_.top, all.samples.size() - begin)));
        double best = 0;
        for (size_t begin = 0; begin < all.best.size(); begin += options_.top) {
            measure(std::span(all.best).subspan(begin, std::min(options_.top, all.best.size() - begin)));
            if (measured.empty()) continue;
            const double least =
                std::ranges::min_element(measured, {}, &planner::MeasuredChoice::seconds)->seconds;
            if (best > 0 && least > kConverged * best) break;
            best = least;
        }
        if (measured.empty()) return measured;
        const std::vector<std::string> planned = texts(all.best.front());
        for (planner::MeasuredChoice& choice : measured) choice.is_planned = choice.nests == planned;
        const double least =
            std::ranges::min_element(measured, {}, &planner::MeasuredChoice::seconds)->seconds;
        const auto used = std::ranges::find_if(
            measured, [&](const planner::MeasuredChoice& each) { return kAlike * each.seconds <= least; });
        std::rotate(measured.begin(), used, used + 1);
        std::stable_sort(measured.begin() + 1, measured.end(),
                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
        return measured;
    }

    const std::string& why_refused() const { return why_refused_; }

private:
    static std::vector<std::string> texts(const planner::Alternative& alternative) {
        std::vector<std::string> nests;
        for (const plan::Nest& nest : alternative.kernels) nests.push_back(plan::print(nest));
        return nests;
    }

    /// Compiles the choices together, and times them in turns.
    std::vector<planner::MeasuredChoice> round(std::span<const planner::Alternative> alternatives,
                                               measure::PinnedThreads& threads) {
        std::vector<planner::MeasuredChoice> choices;
        std::vector<measure::LoweredForm> forms;
        for (const planner::Alternative& alternative : alternatives) {
            planner::MeasuredChoice choice{.nests = texts(alternative),
                                           .estimated_seconds = alternative.seconds};
            std::variant<measure::LoweredForm, lowering::Refusal> form = lowered(alternative, forms.size());
            if (const auto* refusal = std::get_if<lowering::Refusal>(&form)) {
                why_refused_ = refusal->text();
                continue;
            }
            forms.push_back(std::get<measure::LoweredForm>(std::move(form)));
            choices.push_back(std::move(choice));
        }
        if (forms.empty()) return {};
        measure::ProgramCalls calls(lone_.graph, forms, subject_.machine, options_.measuring, threads);
        std::vector<Point> points = lone_.graph.points;
        if (points.empty()) points.push_back({"largest", 1, largest()});
        std::vector<measure::Sample> samples;
        for (size_t i = 0; i < forms.size(); ++i)
            for (const Point& point : points)
                samples.push_back(calls.sample(i, subject_.sizes(point), options_.measuring.seconds));
        const std::vector<double> seconds = measure::quartiles_in_turns(samples, options_.measuring);
        for (size_t i = 0; i < forms.size(); ++i)
            for (size_t p = 0; p < points.size(); ++p)
                choices[i].seconds += points[p].weight * seconds[i * points.size() + p];
        return choices;
    }

    std::map<std::string, int64_t> largest() const {
        std::map<std::string, int64_t> symbols;
        for (const auto& [symbol, bounds] : lone_.plan.specialisations.front().bounds)
            symbols[symbol] = bounds.high;
        return symbols;
    }

    /// The program of the kernels of these operators alone, or why such a plan cannot have them.
    std::variant<measure::LoweredForm, lowering::Refusal> lowered(const planner::Alternative& alternative,
                                                                  size_t number) const {
        planner::PlannerOptions planning = planning_;
        planning.alternatives = planning.samples = 0;
        for (const plan::Nest& nest : alternative.kernels) planning.stated.push_back({"choice", "", nest});
        planner::CompletedPlan completed = planner::completed_plan(lone_.graph, lone_.plan, planning);
        if (auto* refusal = std::get_if<lowering::Refusal>(&completed)) return std::move(*refusal);
        const plan::Plan& plan = std::get<planner::LoweredPlan>(completed).plan;
        const plan::ConstantSection constants = plan::constant_section(lone_.graph, plan);
        plan::SpecialisationPlan own = plan.specialisations.front();
        std::erase_if(own.kernels, [](const plan::KernelPlan& kernel) { return kernel.block != kLoneBlock; });
        movement::Program program = lowering::lower(lone_.graph, plan, own, constants);
        movement::expect_sound(program, lone_.graph.name);
        program.specialisation = fmt::format("form_{}", number);
        return measure::LoweredForm{std::move(program), constants.bytes, own.arena_bytes};
    }

    const Subject& subject_;
    const TuneOptions& options_;
    const LoneKernel lone_;
    planner::PlannerOptions planning_;
    std::string why_refused_;  ///< the last choice that cannot stand beside copies of what it reads
};

}  // namespace

planner::TuningLog tune(const Subject& subject, planner::TuningLog log, const TuneOptions& options) {
    const std::string machine = machine::content_hash(subject.machine);
    std::vector<planner::TunedKernel> wanted;
    for (const plan::SpecialisationPlan& specialisation : subject.plan.specialisations) {
        for (const Operators& operators : kernels_of(subject, specialisation, options.least_share)) {
            planner::TunedKernel kernel{
                .machine = machine,
                .kernel = planner::kernel_digest(subject.graph, subject.plan, specialisation, operators),
                .specialisation = specialisation.name,
                .operators = operators,
                .choices = {}};
            const bool is_known = std::ranges::any_of(log, [&](const planner::TunedKernel& known) {
                return known.machine == kernel.machine && known.kernel == kernel.kernel;
            });
            if (!is_known) wanted.push_back(std::move(kernel));
        }
    }
    measure::PinnedThreads threads(subject.plan.workers);
    for (size_t i = 0; i < wanted.size(); ++i) {
        planner::TunedKernel& kernel = wanted[i];
        if (options.on_kernel)
            options.on_kernel(i, wanted.size(),
                              fmt::format("{}: {}", kernel.specialisation, fmt::join(kernel.operators, " ")));
        const auto specialisation = std::ranges::find(subject.plan.specialisations, kernel.specialisation,
                                                      &plan::SpecialisationPlan::name);
        KernelTuning tuning(subject, *specialisation, kernel.operators, options);
        kernel.choices = tuning.run(threads);
        if (kernel.choices.empty()) {
            if (options.on_refused) options.on_refused(tuning.why_refused());
            continue;
        }
        log.push_back(std::move(kernel));
        if (options.on_log && !options.on_log(log)) break;
    }
    return log;
}

}  // namespace tessera::tune
