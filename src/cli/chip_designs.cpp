#include "cli/chip_designs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chip/schedule_terms.h"
#include "chip/timeline.h"
#include "cli/number_checks.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

bool is_elk(chip::Design design) {
    return design == chip::Design::kElkDyn || design == chip::Design::kElkFull;
}

chip::ScheduleTerms terms_of(const chip::ScheduleProblem& problem, const PlannedDesign& planned) {
    const chip::Schedule& schedule = planned.schedule->schedule;
    return chip::terms_of(problem, schedule, chip::run_schedule(problem, schedule));
}

void print_totals(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared) {
    const double ideal = chip::ideal_total(problem);
    fmt::print("\n{:<9} {:>14} {:>10} {:>9} {:>11} {:>7} {:>7}\n", "design", "cycles", "ms", "of ideal",
               "overlapped", "HBM", "links");
    for (const PlannedDesign& each : compared) {
        if (each.total == 0) {
            fmt::print("{:<9} finds no schedule\n", name(each.design));
            continue;
        }
        fmt::print("{:<9} {:>14.0f} {:>10.4f} {:>8.1f}%", name(each.design), each.total,
                   1e3 * each.total / problem.clock_hz, 100 * ideal / each.total);
        if (each.schedule) {
            const chip::Timeline timeline = chip::run_schedule(problem, each.schedule->schedule);
            fmt::print(" {:>10.1f}% {:>6.1f}% {:>6.1f}%", 100 * timeline.overlapped / each.total,
                       100 * timeline.hbm_busy / each.total, 100 * timeline.link_busy / each.total);
        }
        fmt::print("\n");
    }
}

void print_terms(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared) {
    fmt::print("\n{:<9} {:>8} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}\n", "design", "compute", "distribute",
               "contention", "access", "wait", "orders", "moved");
    for (const PlannedDesign& each : compared) {
        if (!each.schedule) continue;
        const chip::ScheduleTerms terms = terms_of(problem, each);
        const auto percent = [&](double part) { return fmt::format("{:.1f}%", 100 * part / each.total); };
        fmt::print("{:<9} {:>8} {:>10} {:>10} {:>8} {:>8}", name(each.design), percent(terms.compute),
                   percent(terms.distribute), percent(terms.contention), percent(terms.access),
                   percent(terms.wait));
        if (is_elk(each.design))
            fmt::print(" {:>8} {:>8}", each.schedule->orders, each.schedule->edit_distance);
        fmt::print("\n");
    }
}

}  // namespace

void add_designs(CLI::App& app, std::string& design, bool& compares) {
    app.add_option("--design", design,
                   "how the schedule is found: basic, static, elk-dyn, elk-full or search")
        ->check(not_empty())
        ->type_name("NAME");
    app.add_flag("--compare", compares, "a table of all designs, and of the ideal");
}

chip::Design stated_design(const std::string& name) {
    const auto design = chip::design_of(name);
    if (!design || *design == chip::Design::kIdeal)
        throw Error(
            "", "--design",
            fmt::format("is {}, expected basic, static, elk-dyn, elk-full or search", printable(name)), {},
            ErrorKind::kUsage);
    return *design;
}

PlannedDesign planned_design(const chip::ScheduleProblem& problem, chip::Design design,
                             const chip::PlanResult& searched, const std::function<bool()>& must_stop) {
    PlannedDesign result{.design = design, .schedule = std::nullopt, .total = 0};
    if (design == chip::Design::kIdeal) {
        result.total = chip::ideal_total(problem);
        return result;
    }
    result.schedule = design == chip::Design::kSearch ? chip::DesignedSchedule{.schedule = searched.schedule}
                                                      : chip::schedule_by_design(problem, design, must_stop);
    if (result.schedule) result.total = chip::run_schedule(problem, result.schedule->schedule).total;
    return result;
}

void print_designs(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared) {
    if (compared.empty()) return;
    print_totals(problem, compared);
    print_terms(problem, compared);
}

void add_designs_json(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared,
                      nlohmann::ordered_json& json) {
    for (const PlannedDesign& each : compared) {
        const std::string of(name(each.design));
        json["designs"][of] = each.total > 0 ? nlohmann::ordered_json(each.total) : nlohmann::ordered_json();
        if (!each.schedule) continue;
        const chip::ScheduleTerms terms = terms_of(problem, each);
        nlohmann::ordered_json& parts = json["terms"][of];
        parts = {{"compute", terms.compute},
                 {"distribute", terms.distribute},
                 {"contention", terms.contention},
                 {"access", terms.access},
                 {"wait", terms.wait}};
        if (!is_elk(each.design)) continue;
        parts["orders"] = each.schedule->orders;
        parts["edit_distance"] = each.schedule->edit_distance;
    }
}

}  // namespace tessera::cli
