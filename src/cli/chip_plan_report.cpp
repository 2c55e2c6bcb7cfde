#include "cli/chip_plan_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chip/partition/energy.h"
#include "chip/partition/tables_json.h"
#include "chip/schedule_terms.h"
#include "chip/search_space.h"
#include "chip/timeline.h"
#include "support/printable.h"

namespace tessera::cli {
namespace {

/// How the positions of one operator are executed, all together.
struct OperatorSums {
    size_t count = 0;
    double execute = 0;  ///< cycles of their executes alone
    double waits = 0;    ///< cycles in front of their executes, and by which a full link makes them longer
    std::map<size_t, size_t> rows;  ///< how many positions have each

    size_t row() const {
        return std::max_element(rows.begin(), rows.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    }
};

std::vector<OperatorSums> sums_by_operator(const ChipPlan& plan, const chip::Timeline& timeline) {
    const chip::ScheduleProblem& problem = plan.tables.problem;
    std::vector<OperatorSums> sums(problem.operators.size());
    double before = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        const size_t row = plan.chosen.schedule->schedule.rows[i];
        OperatorSums& own = sums[problem.sequence[i]];
        ++own.count;
        ++own.rows[row];
        const double execute = problem.at(i).rows[row].execute();
        own.execute += execute;
        own.waits += std::max(0.0, timeline.executes[i].end - before - execute);
        before = timeline.executes[i].end;
    }
    return sums;
}

std::optional<double> energy_of_plan(const ChipPlan& plan) {
    if (!plan.chip.energy) return std::nullopt;
    return partition::joules_of(plan.tables, plan.chosen.schedule->schedule.rows, plan.chip);
}

nlohmann::ordered_json counts_json(const partition::PlanCounts& counts) {
    return {{"slicings", counts.slicings},
            {"plans", counts.plans},
            {"fitting", counts.fitting},
            {"front", counts.front},
            {"rows", counts.rows}};
}

nlohmann::ordered_json operators_json(const ChipPlan& plan, const chip::Timeline& timeline) {
    const std::vector<OperatorSums> sums = sums_by_operator(plan, timeline);
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (size_t o = 0; o < sums.size(); ++o) {
        const partition::PlannedOperator& op = plan.tables.operators[o];
        const size_t row = sums[o].row();
        const chip::Row& costs = plan.tables.problem.operators[o].rows[row];
        operators.push_back(
            {{"name", valid_utf8(plan.tables.problem.operators[o].name)},
             {"count", sums[o].count},
             {"unit", op.uses_matrix_unit ? "matrix" : "vector"},
             {"cut", op.cut ? nlohmann::ordered_json(op.iterators[*op.cut]) : nlohmann::ordered_json()},
             {"hbm_bytes", op.hbm_bytes},
             {"stored_bytes", op.stored_bytes},
             {"exchange_bytes", op.exchange_bytes},
             {"plans", counts_json(op.counts)},
             {"row", row},
             {"plan", partition::plan_text(op, op.rows[row].execute)},
             {"tiles", op.rows[row].execute.tiles},
             {"preload_parts", op.rows[row].preload.parts},
             {"preload_bytes", costs.preload_bytes},
             {"exec_bytes", costs.exec_bytes},
             {"compute", costs.compute},
             {"shift", costs.shift},
             {"distribute", costs.distribute},
             {"preload", costs.preload()},
             {"execute_cycles", sums[o].execute},
             {"wait_cycles", sums[o].waits}});
    }
    return operators;
}

void print_operators(const ChipPlan& plan, const chip::Timeline& timeline) {
    fmt::print("\n{:>5} {:>9} {:>9} {:>7} {:>7} {:>9} {:>6}  operator: plan on a chip\n", "count", "HBM kB",
               "preload B", "exec B", "rows", "cycles", "wait");
    const std::vector<OperatorSums> sums = sums_by_operator(plan, timeline);
    for (size_t o = 0; o < sums.size(); ++o) {
        const partition::PlannedOperator& op = plan.tables.operators[o];
        const size_t row = sums[o].row();
        const chip::Row& costs = plan.tables.problem.operators[o].rows[row];
        fmt::print("{:>5} {:>9.1f} {:>9} {:>7} {:>7} {:>9.0f} {:>5.1f}%  {}: {}\n", sums[o].count,
                   static_cast<double>(op.hbm_bytes) / 1e3, costs.preload_bytes, costs.exec_bytes,
                   op.counts.rows, sums[o].execute / static_cast<double>(sums[o].count),
                   100 * sums[o].waits / plan.chosen.total, printable(plan.tables.problem.operators[o].name),
                   partition::plan_text(op, op.rows[row].execute));
    }
}

nlohmann::ordered_json accuracy_json(const std::vector<partition::MeasuredRow>& rows) {
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    for (const partition::MeasuredRow& row : rows)
        operators.push_back({{"name", valid_utf8(row.name)},
                             {"execute", row.execute},
                             {"simulated_execute", row.simulated_execute},
                             {"preload", row.preload},
                             {"simulated_preload", row.simulated_preload}});
    const auto numbers = [](const partition::Agreement& agreement) -> nlohmann::ordered_json {
        return {{"median_error", agreement.median_error}, {"correlation", agreement.correlation}};
    };
    return {{"executes", numbers(partition::execute_agreement(rows))},
            {"preloads", numbers(partition::preload_agreement(rows))},
            {"operators", std::move(operators)}};
}

/// The plan's throughput, if that is the objective, and its energy, if it is known.
void print_objective(const ChipPlan& plan) {
    const auto joules = energy_of_plan(plan);
    if (plan.objective == Objective::kThroughput) {
        const double steps = static_cast<double>(plan.steps), cycles = plan.chosen.total / steps;
        fmt::print("throughput  {:.0f} cycles for each of {} steps, {:.4g} steps a second; at least {:.0f}\n",
                   cycles, plan.steps, plan.tables.problem.clock_hz / cycles, plan.bound / steps);
    }
    if (!joules) return;
    std::string more = plan.steps > 1 ? " for all steps" : "";
    if (plan.objective == Objective::kEnergy)
        more = fmt::format(", at least {:.4g} by any plan; bound and ideal are those of least energy",
                           partition::least_joules(plan.tables, plan.chip));
    fmt::print("energy      {:.4g} J{}\n", *joules, more);
}

double length_of(const std::vector<chip::Span>& spans) {
    double sum = 0;
    for (const chip::Span& span : spans) sum += span.end - span.begin;
    return sum;
}

nlohmann::ordered_json spans_json(const std::vector<chip::Span>& preloads,
                                  const std::vector<chip::Span>& executes) {
    const auto list = [](const std::vector<chip::Span>& spans) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const chip::Span& span : spans) json.push_back({span.begin, span.end});
        return json;
    };
    return {{"preloads", list(preloads)}, {"executes", list(executes)}};
}

nlohmann::ordered_json fusion_json(const ChipPlan& plan) {
    nlohmann::ordered_json fused = nlohmann::ordered_json::array(), apart = fused;
    for (const auto& [producer, reader] : plan.fusion->fused)
        fused.push_back({{"producer", valid_utf8(producer)}, {"reader", valid_utf8(reader)}});
    for (const rules::KeptApart& each : plan.fusion->apart)
        apart.push_back({{"producer", valid_utf8(each.producer)},
                         {"reader", valid_utf8(each.reader)},
                         {"reason", each.reason}});
    return {{"fused", std::move(fused)}, {"apart", std::move(apart)}, {"unfused_total", plan.unfused_total}};
}

void print_fusion(const ChipPlan& plan) {
    if (!plan.fusion) return;
    const std::string gain =
        plan.unfused_total > 0 ? fmt::format("{:.0f} cycles without it, {:+.2f} % by it", plan.unfused_total,
                                             100 * (plan.chosen.total / plan.unfused_total - 1))
                               : "no schedule without it";
    fmt::print("fused       {} operators, each in all copies of its block: {}\n", plan.fusion->fused.size(),
               gain);
    for (const auto& [producer, reader] : plan.fusion->fused)
        fmt::print("            {} in {}\n", printable(producer), printable(reader));
    for (const rules::KeptApart& each : plan.fusion->apart)
        fmt::print("apart       {} and {}: {}\n", printable(each.producer), printable(each.reader),
                   each.reason);
}

void print_simulated(const ChipPlan& plan, const chip::Timeline& timeline) {
    if (plan.simulated) {
        const auto more = [](double simulated, double planned) { return 100 * (simulated / planned - 1); };
        const double total = plan.simulated->executes.back().end;
        fmt::print("simulated   {:.0f} cycles, {:+.1f} %; executes {:+.1f} %, preloads {:+.1f} %\n", total,
                   more(total, plan.chosen.total),
                   more(length_of(plan.simulated->executes), length_of(timeline.executes)),
                   more(length_of(plan.simulated->preloads), length_of(timeline.preloads)));
    }
    if (plan.measured.empty()) return;
    const auto text = [](const partition::Agreement& agreement) {
        return fmt::format("off by {:.1f} % in the median, correlation {:.3f}", 100 * agreement.median_error,
                           agreement.correlation);
    };
    fmt::print("accuracy    {} operators alone: executes {}; preloads {}\n", plan.measured.size(),
               text(partition::execute_agreement(plan.measured)),
               text(partition::preload_agreement(plan.measured)));
}

}  // namespace

std::string_view name(Objective objective) {
    switch (objective) {
        case Objective::kThroughput:
            return "throughput";
        case Objective::kEnergy:
            return "energy";
        case Objective::kLatency:
            break;
    }
    return "latency";
}

nlohmann::ordered_json chip_plan_json(const ChipPlan& plan) {
    const chip::ScheduleProblem& problem = plan.tables.problem;
    const chip::Timeline timeline = chip::run_schedule(problem, plan.chosen.schedule->schedule);
    const chip::ScheduleTerms terms = chip::terms_of(problem, plan.chosen.schedule->schedule, timeline);
    nlohmann::ordered_json json = {{"workload", valid_utf8(plan.workload.name)},
                                   {"chip", plan.chip.chip.name},
                                   {"design", name(plan.chosen.design)},
                                   {"objective", name(plan.objective)},
                                   {"steps", plan.steps},
                                   {"total", plan.chosen.total},
                                   {"seconds", plan.chosen.total / problem.clock_hz},
                                   {"bound", plan.bound},
                                   {"ideal", plan.ideal},
                                   {"positions", problem.size()},
                                   {"hbm_bytes", plan.tables.hbm_bytes},
                                   {"stored_bytes", plan.tables.stored_bytes},
                                   {"carried_bytes", plan.tables.carried_bytes},
                                   {"overlapped", timeline.overlapped},
                                   {"execute_only", timeline.execute_only},
                                   {"preload_only", timeline.preload_only},
                                   {"execute_contention", terms.contention},
                                   {"preload_contention", terms.preload_contention},
                                   {"hbm_busy", timeline.hbm_busy},
                                   {"link_busy", timeline.link_busy},
                                   {"sram_peak", timeline.sram_peak},
                                   {"sram_bytes", problem.sram_bytes}};
    if (const auto joules = energy_of_plan(plan)) json["joules"] = *joules;
    if (plan.objective == Objective::kThroughput)
        json["cycles_per_step"] = plan.chosen.total / static_cast<double>(plan.steps);
    if (plan.objective == Objective::kEnergy)
        json["least_joules"] = partition::least_joules(plan.tables, plan.chip);
    if (plan.simulated) {
        json["simulated"] = plan.simulated->executes.back().end;
        json["simulated_spans"] = spans_json(plan.simulated->preloads, plan.simulated->executes);
    }
    if (plan.fusion) json["fusion"] = fusion_json(plan);
    if (!plan.measured.empty()) json["accuracy"] = accuracy_json(plan.measured);
    const chip::SearchSpace space = chip::search_space(problem);
    json["space"] = {{"C", space.fitting_heavy},
                     {"H", space.heavy},
                     {"P", space.rows},
                     {"K", space.fitting},
                     {"N", space.operators}};
    add_designs_json(problem, plan.compared, json);
    json["operators"] = operators_json(plan, timeline);
    json["rows"] = plan.chosen.schedule->schedule.rows;
    json["order"] = plan.chosen.schedule->schedule.order;
    json["slots"] = plan.chosen.schedule->schedule.slots;
    json["spans"] = spans_json(timeline.preloads, timeline.executes);
    return json;
}

void print_chip_plan(const ChipPlan& plan) {
    const chip::ScheduleProblem& problem = plan.tables.problem;
    const chip::Timeline timeline = chip::run_schedule(problem, plan.chosen.schedule->schedule);
    const chip::ScheduleTerms terms = chip::terms_of(problem, plan.chosen.schedule->schedule, timeline);
    const double total = plan.chosen.total;
    const auto percent = [&](double part) { return 100 * part / total; };
    const auto milliseconds = [&](double cycles) { return 1e3 * cycles / problem.clock_hz; };
    fmt::print("workload    {}, {} operators\n", printable(plan.workload.name), problem.size());
    fmt::print("chip        {}{}\n", plan.chip.chip.name,
               plan.chip.pod.chips > 1 ? fmt::format(", {} chips", plan.chip.pod.chips) : "");
    fmt::print("design      {}\n", name(plan.chosen.design));
    fmt::print("total       {:.0f} cycles, {:.4g} ms\n", total, milliseconds(total));
    fmt::print("bound       {:.0f} cycles, gap {:.2f} %\n", plan.bound,
               100 * (total - plan.bound) / plan.bound);
    fmt::print("ideal       {:.0f} cycles, {:.1f} % of its speed\n", plan.ideal, 100 * plan.ideal / total);
    fmt::print("time        {:.1f} % overlapped, {:.1f} % execute only, {:.1f} % preload only\n",
               percent(timeline.overlapped), percent(timeline.execute_only), percent(timeline.preload_only));
    fmt::print("full links  executes {:.1f} % longer, preloads {:.1f} %\n", percent(terms.contention),
               percent(terms.preload_contention));
    fmt::print("busy        HBM {:.1f} %, links {:.1f} %\n", percent(timeline.hbm_busy),
               percent(timeline.link_busy));
    fmt::print("SRAM        {} of {} bytes at the peak, and {} for values that wait\n", timeline.sram_peak,
               problem.sram_bytes, plan.tables.carried_bytes);
    fmt::print("HBM         {:.1f} MB read and {:.3f} MB written by each chip\n",
               static_cast<double>(plan.tables.hbm_bytes) / 1e6,
               static_cast<double>(plan.tables.stored_bytes) / 1e6);
    const chip::SearchSpace space = chip::search_space(problem);
    fmt::print("space       C {}, H {}, P {}, K {}, N {}\n", space.fitting_heavy, space.heavy, space.rows,
               space.fitting, space.operators);
    print_objective(plan);
    print_simulated(plan, timeline);
    print_fusion(plan);
    print_designs(problem, plan.compared);
    print_operators(plan, timeline);
}

}  // namespace tessera::cli
