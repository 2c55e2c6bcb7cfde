#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "chip/partition/explain_plan.h"
#include "chip/partition/tables_json.h"
#include "chip/timeline.h"
#include "cli/chip.h"
#include "cli/chip_workload.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "support/error.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

constexpr size_t kShownAlternatives = 8;

struct ChipExplainArguments {
    ChipWorkloadArguments workload;
    std::string op;
    bool as_json = false;
};

/// The position that is meant: a number, or the one in the middle of those that have the name.
size_t position_of(const chip::ScheduleProblem& problem, const std::string& text) {
    std::vector<size_t> found;
    for (size_t i = 0; i < problem.size(); ++i)
        if (problem.at(i).name == text || std::to_string(i) == text) found.push_back(i);
    if (!found.empty()) return found[found.size() / 2];
    std::string names;
    for (const chip::Operator& op : problem.operators)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", op.name);
    throw Error("", "OPERATOR", fmt::format("is {}, and the workload has no such operator", printable(text)),
                fmt::format("a position, 0 to {}, or one of {}", problem.size() - 1, printable(names)),
                ErrorKind::kUsage);
}

/// Everything that is said of a position.
struct Explained {
    const ChipWorkload& workload;
    const chip::Schedule& schedule;
    const chip::Timeline& timeline;
    size_t position;
    std::vector<partition::Alternative> rows, leads;

    const chip::ScheduleProblem& problem() const { return workload.tables.problem; }
    size_t op() const { return problem().sequence[position]; }
    const chip::Row& row() const { return problem().at(position).rows[schedule.rows[position]]; }
    const partition::PlannedOperator& planned() const { return workload.tables.operators[op()]; }
    double free_at() const { return position == 0 ? 0 : timeline.executes[position - 1].end; }
    /// The largest SRAM beside an execute while its preload is held, and where.
    std::pair<int64_t, size_t> tightest() const {
        std::pair<int64_t, size_t> most{0, position};
        const double begin = timeline.preloads[position].begin;
        for (size_t e = schedule.slots[position]; e < position; ++e) {
            if (timeline.executes[e].end <= begin) continue;
            int64_t held = problem().at(e).rows[schedule.rows[e]].exec_bytes;
            for (size_t i = e + 1; i < problem().size(); ++i)
                if (timeline.preloads[i].begin < timeline.executes[e].end && schedule.slots[i] <= e)
                    held += problem().at(i).rows[schedule.rows[i]].preload_bytes;
            most = std::max(most, {held, e});
        }
        return most;
    }
};

std::string row_text(const Explained& it, size_t row) {
    const chip::Row& costs = it.problem().at(it.position).rows[row];
    const partition::PlannedRow& planned = it.planned().rows[row];
    return fmt::format(
        "{:>9} {:>9} {:>9.0f} {:>9.0f} {:>10.0f}  {}{}", costs.preload_bytes, costs.exec_bytes, costs.compute,
        costs.shift, costs.distribute, partition::plan_text(it.planned(), planned.execute),
        planned.preload.parts > 1 ? fmt::format(", preloaded in {} parts", planned.preload.parts) : "");
}

std::string change_text(const Explained& it, const std::optional<double>& total) {
    if (!total) return "does not fit";
    return fmt::format("{:+.0f} ({:+.2f} %)", *total - it.timeline.total,
                       100 * (*total - it.timeline.total) / it.timeline.total);
}

void print_explained(const Explained& it) {
    const size_t i = it.position, slot = it.schedule.slots[i];
    const chip::Span &preload = it.timeline.preloads[i], &execute = it.timeline.executes[i];
    const auto name_at = [&](size_t position) {
        return fmt::format("{} ({})", position, printable(it.problem().at(position).name));
    };
    fmt::print("operator    {} of {}, {} positions\n", name_at(i), it.problem().size(),
               std::count(it.problem().sequence.begin(), it.problem().sequence.end(), it.op()));
    fmt::print("total       {:.0f} cycles\n", it.timeline.total);
    if (it.row().preload() == 0) {
        fmt::print("preload     nothing: all that it reads is on the chip\n");
    } else {
        fmt::print(
            "preload     {:.0f} to {:.0f}, {} bytes of each core; alone {:.0f} of HBM, {:.0f} of link and "
            "{:.0f} of latency\n",
            preload.begin, preload.end, it.row().preload_bytes, it.row().hbm, it.row().link_in,
            it.row().latency);
        if (slot == i)
            fmt::print("            issued in front of its own execute\n");
        else
            fmt::print("            issued in front of execute {}, {} ahead\n", name_at(slot), i - slot);
        if (const auto [held, beside] = it.tightest(); held > 0)
            fmt::print("            up to {} of {} bytes are taken while it is held, beside execute {}\n",
                       held, it.problem().sram_bytes, name_at(beside));
    }
    fmt::print("execute     {:.0f} to {:.0f}; alone {:.0f}\n", execute.begin, execute.end,
               it.row().execute());
    if (const double waited = execute.begin - it.free_at(); waited > 0.5)
        fmt::print("            waits {:.0f} for its preload\n", waited);
    if (const double longer = execute.end - execute.begin - it.row().execute(); longer > 0.5)
        fmt::print("            {:.0f} longer, since a preload shares the links\n", longer);
    fmt::print("\n{:>22} {:>9} {:>9} {:>9} {:>9} {:>10}  plan of a tile\n", "total", "preload B", "exec B",
               "compute", "shift", "distribute");
    fmt::print("{:>22} {}\n", "chosen", row_text(it, it.schedule.rows[i]));
    for (size_t k = 0; k < std::min(it.rows.size(), kShownAlternatives); ++k)
        fmt::print("{:>22} {}\n", change_text(it, it.rows[k].total), row_text(it, it.rows[k].row));
    if (it.rows.size() > kShownAlternatives)
        fmt::print("... {} more; --json lists all\n", it.rows.size() - kShownAlternatives);
    for (const partition::Alternative& each : it.leads)
        fmt::print("{:>22} if its preload is issued at most {} executes ahead\n", change_text(it, each.total),
                   *each.lead);
}

nlohmann::ordered_json explained_json(const Explained& it) {
    const auto total = [](const std::optional<double>& cycles) {
        return cycles ? nlohmann::ordered_json(*cycles) : nlohmann::ordered_json();
    };
    nlohmann::ordered_json rows = nlohmann::ordered_json::array(), leads = rows;
    const auto row_json = [&](size_t row) -> nlohmann::ordered_json {
        const chip::Row& costs = it.problem().at(it.position).rows[row];
        return {{"row", row},
                {"plan", partition::plan_text(it.planned(), it.planned().rows[row].execute)},
                {"preload_parts", it.planned().rows[row].preload.parts},
                {"preload_bytes", costs.preload_bytes},
                {"exec_bytes", costs.exec_bytes},
                {"compute", costs.compute},
                {"shift", costs.shift},
                {"distribute", costs.distribute}};
    };
    for (const partition::Alternative& each : it.rows) {
        rows.push_back(row_json(each.row));
        rows.back()["total"] = total(each.total);
    }
    for (const partition::Alternative& each : it.leads)
        leads.push_back({{"lead", *each.lead}, {"total", total(each.total)}});
    const chip::Span &preload = it.timeline.preloads[it.position],
                     &execute = it.timeline.executes[it.position];
    return {{"position", it.position},
            {"name", valid_utf8(it.problem().at(it.position).name)},
            {"total", it.timeline.total},
            {"slot", it.schedule.slots[it.position]},
            {"preload", {preload.begin, preload.end}},
            {"execute", {execute.begin, execute.end}},
            {"waits", execute.begin - it.free_at()},
            {"chosen", row_json(it.schedule.rows[it.position])},
            {"others", std::move(rows)},
            {"leads", std::move(leads)}};
}

int run_chip_explain(const ChipExplainArguments& arguments, std::FILE* terminal) {
    std::optional<Progress> progress(std::in_place, terminal, "reading");
    const ChipWorkload workload = read_chip_workload(arguments.workload, *progress);
    const chip::ScheduleProblem& problem = workload.tables.problem;
    const size_t position = position_of(problem, arguments.op);
    const InterruptWatch interrupt;
    progress->rename("finding a schedule");
    const chip::PlanResult found = search_chip_workload(workload, arguments.workload, true, [&] {
        progress->update();
        return interrupt.interrupted();
    });
    const chip::Timeline timeline = chip::run_schedule(problem, found.schedule);
    const Explained it{.workload = workload,
                       .schedule = found.schedule,
                       .timeline = timeline,
                       .position = position,
                       .rows = partition::other_rows(problem, found.schedule, problem.sequence[position]),
                       .leads = partition::shorter_leads(problem, found.schedule, position)};
    progress.reset();
    if (arguments.as_json)
        fmt::print("{}\n", explained_json(it).dump(1));
    else
        print_explained(it);
    return 0;
}

Job declare_chip_explain(CLI::App& app, const Environment& environment) {
    const auto arguments = std::make_shared<ChipExplainArguments>();
    add_chip_workload(app, arguments->workload);
    app.add_option("OPERATOR", arguments->op,
                   "a name of the table of `tessera chip plan`, or a position from 0")
        ->required()
        ->check(not_empty());
    app.add_flag("--json", arguments->as_json, "the same as JSON, with all rows");
    return [arguments, terminal = environment.terminal] { return run_chip_explain(*arguments, terminal); };
}

}  // namespace

Verb chip_explain_part() {
    return {
        .name = "explain",
        .help = "why an operator is preloaded then and gets this space, and what else would cost",
        .examples = {"tessera chip explain config.json layer_gate --chip machines/chips/ipu-pod4-hbm.toml",
                     "tessera chip explain config.json 17 --chip mine.toml --batch 16 --json"},
        .declare = declare_chip_explain};
}

}  // namespace tessera::cli
