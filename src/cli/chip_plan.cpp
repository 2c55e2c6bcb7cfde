#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "chip/partition/cost_accuracy.h"
#include "chip/partition/device_plan.h"
#include "chip/partition/tables_json.h"
#include "chip/repeat_steps.h"
#include "chip/simulation.h"
#include "chip/timeline.h"
#include "cli/chip.h"
#include "cli/chip_plan_report.h"
#include "cli/chip_workload.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/output_place.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

constexpr int64_t kStepsOfThroughput = 4;

struct ChipPlanArguments {
    ChipWorkloadArguments workload;
    std::string design = "search";
    std::string objective = "latency";
    std::optional<int64_t> steps;  ///< of throughput
    std::string tables;
    std::string program;
    std::string accuracy;
    bool compares = false;
    bool simulates = false;
    bool as_json = false;
};

/// A state that a step reads may be one that the step before has written: then its preload waits.
PlannedDesign planned(const ChipWorkload& workload, size_t steps, chip::Design design,
                      const chip::PlanResult& searched, const std::function<bool()>& must_stop) {
    const chip::ScheduleProblem& problem = workload.tables.problem;
    PlannedDesign result = planned_design(problem, design, searched, must_stop);
    if (!result.schedule || steps == 1 || workload.tables.stored_bytes == 0) return result;
    chip::Schedule& schedule = result.schedule->schedule;
    schedule = chip::after_step_before(problem, schedule, problem.size() / steps);
    result.total = chip::run_schedule(problem, schedule).total;
    return result;
}

Objective stated_objective(const ChipPlanArguments& arguments) {
    for (const Objective each : {Objective::kLatency, Objective::kThroughput, Objective::kEnergy}) {
        if (arguments.objective != name(each)) continue;
        if (arguments.steps && each != Objective::kThroughput)
            throw Error("", "--steps", fmt::format("is for --objective throughput, not for {}", name(each)),
                        {}, ErrorKind::kUsage);
        return each;
    }
    throw Error("", "--objective",
                fmt::format("is {}, expected latency, throughput or energy", printable(arguments.objective)),
                {}, ErrorKind::kUsage);
}

/// The workload with the tables that the objective asks for: for throughput those of several steps.
ChipWorkload workload_for(const ChipPlanArguments& arguments, Objective objective, size_t steps,
                          Progress& progress) {
    ChipWorkload workload = read_chip_workload(
        arguments.workload, progress,
        objective == Objective::kEnergy ? partition::RowChoice::kLeastEnergy : partition::RowChoice::kTime);
    const size_t length = workload.tables.problem.size();
    if (steps > 1 && steps > chip::kMostPositions / length)
        throw Error("", "--steps",
                    fmt::format("is {}, expected at most {}: a step has {} operators", steps,
                                std::max<size_t>(1, chip::kMostPositions / length), length),
                    {}, ErrorKind::kUsage);
    workload.tables.problem = chip::repeated_steps(workload.tables.problem, steps);
    return workload;
}

/// The total that the design gives operators apart; 0 if it finds no schedule.
double unfused_total(ChipPlanArguments arguments, Objective objective, size_t steps, chip::Design design,
                     Progress& progress, const std::function<bool()>& must_stop) {
    arguments.workload.fuses = false;
    const ChipWorkload workload = workload_for(arguments, objective, steps, progress);
    const chip::PlanResult searched =
        search_chip_workload(workload, arguments.workload, design == chip::Design::kSearch, must_stop);
    return planned(workload, steps, design, searched, must_stop).total;
}

/// The steps packet by packet.
chip::Simulation simulated(const ChipWorkload& workload, const chip::Schedule& schedule, Progress& progress) {
    progress.rename(fmt::format("simulating {} executes", workload.tables.problem.size()));
    const chip::DeviceProgram program =
        partition::device_program(workload.tables, schedule, workload.chip, workload.workload.name, SIZE_MAX);
    const chip::Network network(workload.chip.chip);
    return chip::simulate(workload.chip.chip, network, program, workload.workload.name,
                          chip::Recording::kSpans,
                          [&](size_t executed) { progress.update(static_cast<int64_t>(executed)); });
}

int run_chip_plan(const ChipPlanArguments& arguments, std::FILE* terminal) {
    std::optional<Progress> progress(std::in_place, terminal, "reading");
    if (!arguments.tables.empty()) check_output(arguments.tables);
    if (!arguments.program.empty()) check_output(arguments.program);
    if (!arguments.accuracy.empty()) check_output(arguments.accuracy);
    const chip::Design design = stated_design(arguments.design);
    const Objective objective = stated_objective(arguments);
    const auto steps = static_cast<size_t>(
        objective == Objective::kThroughput ? arguments.steps.value_or(kStepsOfThroughput) : 1);
    const ChipWorkload workload = workload_for(arguments, objective, steps, *progress);
    if (!arguments.tables.empty())
        write_file(arguments.tables,
                   partition::tables_json(workload.tables, workload.chip, arguments.workload.chip));

    const InterruptWatch interrupt;
    progress->rename("finding a schedule");
    const auto must_stop = [&] {
        progress->update();
        return interrupt.interrupted();
    };
    const chip::ScheduleProblem& problem = workload.tables.problem;
    const bool searches = arguments.compares || design == chip::Design::kSearch;
    const chip::PlanResult searched = search_chip_workload(workload, arguments.workload, searches, must_stop);
    ChipPlan plan{.tables = workload.tables,
                  .chip = workload.chip,
                  .workload = workload.workload,
                  .objective = objective,
                  .steps = steps,
                  .chosen = planned(workload, steps, design, searched, must_stop),
                  .bound = searched.bound,
                  .ideal = chip::ideal_total(problem),
                  .compared = {},
                  .fusion = nullptr,
                  .unfused_total = 0,
                  .simulated = std::nullopt,
                  .measured = {}};
    if (!plan.chosen.schedule)
        throw Error(arguments.workload.model, arguments.design, "finds no valid schedule on this chip",
                    "take another design: `search` always finds one");
    if (arguments.workload.fuses) {
        plan.fusion = &workload.fusion;
        plan.unfused_total = unfused_total(arguments, objective, steps, design, *progress, must_stop);
    }
    if (arguments.compares)
        for (const chip::Design each : chip::kDesigns)
            plan.compared.push_back(planned(workload, steps, each, searched, must_stop));
    const std::string fault = chip::schedule_fault(problem, plan.chosen.schedule->schedule);
    TESSERA_CHECK(fault.empty(), "{}", fault);
    if (!arguments.program.empty())
        write_file(arguments.program,
                   partition::device_program_json(
                       partition::device_program(workload.tables, plan.chosen.schedule->schedule,
                                                 workload.chip, workload.workload.name),
                       workload.chip.chip));
    if (arguments.simulates) plan.simulated = simulated(workload, plan.chosen.schedule->schedule, *progress);
    if (!arguments.accuracy.empty()) {
        plan.measured =
            partition::measure_rows(workload.tables, plan.chosen.schedule->schedule, workload.chip);
        write_file(arguments.accuracy,
                   plot::draw(partition::accuracy_charts(plan.measured),
                              fmt::format("Costs of {} on {}, each operator alone", workload.workload.name,
                                          workload.chip.chip.name)));
    }
    progress.reset();
    if (arguments.as_json)
        fmt::print("{}\n", chip_plan_json(plan).dump());
    else
        print_chip_plan(plan);
    return 0;
}

Job declare_chip_plan(CLI::App& app, const Environment& environment) {
    const auto arguments = std::make_shared<ChipPlanArguments>();
    add_chip_workload(app, arguments->workload);
    add_designs(app, arguments->design, arguments->compares);
    app.add_option("--objective", arguments->objective,
                   "what the plan is good for: latency, throughput of steps one after the other, or energy")
        ->check(not_empty())
        ->type_name("NAME");
    app.add_option("--steps", arguments->steps, "of throughput: steps of the plan; 4")
        ->check(positive_count())
        ->type_name("N");
    app.add_option("--tables", arguments->tables,
                   "writes the problem for `tessera chip schedule` (all-to-all networks)")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_option("--program", arguments->program,
                   "writes the plan as a device program for `tessera chip simulate` (small chips)")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_flag("--simulate", arguments->simulates, "runs the plan in the simulator, packet by packet");
    app.add_option("--accuracy", arguments->accuracy,
                   "runs every operator alone in the simulator, and draws its costs against that (SVG)")
        ->check(not_empty())
        ->type_name("FILE");
    app.add_flag("--json", arguments->as_json, "the plan as JSON: operators, their rows, order and slots");
    return [arguments, terminal = environment.terminal] { return run_chip_plan(*arguments, terminal); };
}

}  // namespace

Verb chip_plan_part() {
    return {
        .name = "plan",
        .help = "plan a step of a model, or a graph, on a described chip: tiles, preloads, schedule, bound",
        .examples =
            {"tessera chip plan config.json --chip machines/chips/ipu-pod4-hbm.toml",
             "tessera chip plan config.json --chip mine.toml --batch 16 --sequence 4096 --compare",
             "tessera chip plan config.json --chip mine.toml --phase prefill --batch 1 --simulate",
             "tessera chip plan config.json --chip mine.toml --objective throughput --steps 8",
             "tessera chip plan block.ir --chip mine.toml --set T=32 --json",
             "tessera chip plan models/tessera-tiny --chip small.toml --sequence 64 --program p.json"},
        .declare = declare_chip_plan};
}

}  // namespace tessera::cli
