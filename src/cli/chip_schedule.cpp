#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "chip/plan_schedule.h"
#include "chip/read_schedule_problem.h"
#include "chip/timeline.h"
#include "cli/chip.h"
#include "cli/chip_designs.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

/// Executes that a core of 2020 runs in a second, so that seconds are an amount of work and no clock decides.
constexpr int64_t kWorkPerSecond = 16'000'000;
constexpr int64_t kMostSeconds = 1'000'000;
constexpr size_t kShownWaits = 5;

struct ChipScheduleArguments {
    std::string file;
    std::optional<int64_t> seconds;
    std::optional<int64_t> work;
    uint64_t seed = 0;
    std::string design = "search";
    bool compares = false;
    bool as_json = false;
};

nlohmann::ordered_json schedule_json(const chip::ScheduleProblem& problem, const chip::PlanResult& result,
                                     const std::vector<PlannedDesign>& compared) {
    if (!result.has_schedule())
        return {{"status", name(result.status)},
                {"operator", *result.infeasible_position},
                {"name", valid_utf8(problem.at(*result.infeasible_position).name)}};
    nlohmann::ordered_json json = {{"status", name(result.status)},
                                   {"total", result.total},
                                   {"bound", result.bound},
                                   {"gap", result.gap()},
                                   {"work", result.work}};
    if (result.was_stopped) json["stopped"] = true;
    json["bounds"] = {{"execute", result.bounds.execute}, {"hbm", result.bounds.hbm},
                      {"link", result.bounds.link},       {"path", result.bounds.path},
                      {"ahead", result.bounds.ahead},     {"together", result.bounds.together}};
    if (result.induction_total) json["induction_total"] = *result.induction_total;
    add_designs_json(problem, compared, json);
    json["rows"] = result.schedule.rows;
    json["order"] = result.schedule.order;
    json["slots"] = result.schedule.slots;
    return json;
}

/// The executes that wait longest for their preload: where a faster HBM or more SRAM would help.
void print_waits(const chip::ScheduleProblem& problem, const chip::Timeline& timeline) {
    std::vector<std::pair<double, size_t>> waits;
    double before = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        if (const double wait = timeline.executes[i].begin - before; wait > 0) waits.emplace_back(-wait, i);
        before = timeline.executes[i].end;
    }
    std::sort(waits.begin(), waits.end());
    if (waits.empty()) return;
    fmt::print("\nexecutes that wait longest for their preload\n");
    for (size_t w = 0; w < std::min(waits.size(), kShownWaits); ++w) {
        const auto [wait, i] = waits[w];
        fmt::print("  {:>12.1f} cycles  operator {} ({})\n", -wait, i, printable(problem.at(i).name));
    }
}

void print_schedule(const chip::ScheduleProblem& problem, const chip::PlanResult& result,
                    const std::vector<PlannedDesign>& compared) {
    fmt::print("status      {}{}\n", name(result.status),
               result.was_stopped ? ", stopped before its end" : "");
    if (!result.has_schedule()) {
        const size_t i = *result.infeasible_position;
        fmt::print("operator    {} ({}): no row fits into {} bytes\n", i, printable(problem.at(i).name),
                   problem.sram_bytes);
        return;
    }
    const chip::Timeline timeline = chip::run_schedule(problem, result.schedule);
    const auto percent = [&](double part) { return 100 * part / timeline.total; };
    fmt::print("total       {:.1f} cycles, {:.4g} ms\n", result.total, 1e3 * result.total / problem.clock_hz);
    fmt::print("bound       {:.1f} cycles\n", result.bound);
    fmt::print("gap         {:.2f} %\n", 100 * result.gap());
    if (result.induction_total) fmt::print("induction   {:.1f} cycles\n", *result.induction_total);
    fmt::print("work        {} executes\n", result.work);
    fmt::print(
        "\nbounds      execute {:.1f}, hbm {:.1f}, link {:.1f}, path {:.1f}, ahead {:.1f}, together {:.1f}\n",
        result.bounds.execute, result.bounds.hbm, result.bounds.link, result.bounds.path, result.bounds.ahead,
        result.bounds.together);
    fmt::print("time        {:.1f} % overlapped, {:.1f} % execute only, {:.1f} % preload only\n",
               percent(timeline.overlapped), percent(timeline.execute_only), percent(timeline.preload_only));
    fmt::print("busy        HBM {:.1f} %, links {:.1f} %\n", percent(timeline.hbm_busy),
               percent(timeline.link_busy));
    fmt::print("SRAM        {} of {} bytes at the peak\n", timeline.sram_peak, problem.sram_bytes);
    print_designs(problem, compared);
    print_waits(problem, timeline);
}

/// The schedule of a design in the place of the search's. Bounds stay.
void take_design(PlannedDesign planned, const std::string& file, chip::PlanResult& result) {
    if (!planned.schedule)
        throw Error(file, std::string(name(planned.design)), "finds no valid schedule",
                    "take another design: `search` always finds one");
    result.schedule = std::move(planned.schedule->schedule);
    result.total = planned.total;
    result.status =
        chip::is_at_bound(result.total, result.bound) ? SolverStatus::kOptimal : SolverStatus::kFeasible;
}

int run_chip_schedule(const ChipScheduleArguments& arguments, std::FILE* terminal) {
    const chip::Design design = stated_design(arguments.design);
    const chip::ScheduleProblem problem =
        chip::read_schedule_problem(MappedFile::open(arguments.file).text(), arguments.file);
    const InterruptWatch interrupt;
    std::optional<Progress> progress(std::in_place, terminal, "finding a schedule");
    const auto must_stop = [&] {
        progress->update();
        return interrupt.interrupted();
    };
    chip::PlanOptions options{.seed = arguments.seed, .must_stop = must_stop};
    if (arguments.seconds) options.work = *arguments.seconds * kWorkPerSecond;
    if (arguments.work) options.work = *arguments.work;
    if (design != chip::Design::kSearch && !arguments.compares) options.work = 0;
    chip::PlanResult result = chip::plan_schedule(problem, options);
    std::vector<PlannedDesign> compared;
    if (result.has_schedule()) {
        if (arguments.compares)
            for (const chip::Design each : chip::kDesigns)
                compared.push_back(planned_design(problem, each, result, must_stop));
        if (design != chip::Design::kSearch)
            take_design(planned_design(problem, design, result, must_stop), arguments.file, result);
        const std::string fault = chip::schedule_fault(problem, result.schedule);
        TESSERA_CHECK(fault.empty(), "{}", fault);
    }
    progress.reset();
    if (arguments.as_json)
        fmt::print("{}\n", schedule_json(problem, result, compared).dump());
    else
        print_schedule(problem, result, compared);
    return 0;
}

Job declare_chip_schedule(CLI::App& app, const Environment& environment) {
    const auto arguments = std::make_shared<ChipScheduleArguments>();
    app.add_option("FILE", arguments->file,
                   "a problem as JSON: a chip, operators with their rows, a sequence")
        ->required()
        ->check(not_empty());
    auto* work =
        app.add_option("--work", arguments->work,
                       "executes that the search runs, at most; the same number gives the same schedule")
            ->check(count_or_zero())
            ->type_name("N");
    app.add_option("--seconds", arguments->seconds,
                   "the same as an amount of work: about so many seconds on a core of 2020")
        ->check(whole_number(1, kMostSeconds))
        ->excludes(work)
        ->type_name("S");
    app.add_option("--seed", arguments->seed, "of the search")->check(count_or_zero())->type_name("N");
    add_designs(app, arguments->design, arguments->compares);
    app.add_flag("--json", arguments->as_json, "the schedule as JSON: rows, order and slots");
    return [arguments, terminal = environment.terminal] { return run_chip_schedule(*arguments, terminal); };
}

}  // namespace

Verb chip_schedule_part() {
    return {.name = "schedule",
            .help = "choose rows, preload order and slots of a table problem, with a proved bound",
            .examples = {"tessera chip schedule docs/chip_layers.problem.json",
                         "tessera chip schedule llama.problem.json --json",
                         "tessera chip schedule llama.problem.json --work 1000000",
                         "tessera chip schedule llama.problem.json --design elk-full --compare"},
            .declare = declare_chip_schedule};
}

}  // namespace tessera::cli
