#include "chip/partition/cost_accuracy.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "chip/partition/device_plan.h"
#include "chip/simulation.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

constexpr size_t kNoLimit = SIZE_MAX;

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double length_of(const chip::Span& span) {
    return span.end - span.begin;
}

/// Predicted and measured cycles, of executes or of preloads.
std::pair<std::vector<double>, std::vector<double>> pairs_of(const std::vector<MeasuredRow>& rows,
                                                             bool of_preloads) {
    std::pair<std::vector<double>, std::vector<double>> pairs;
    for (const MeasuredRow& row : rows) {
        if (of_preloads && row.preload == 0) continue;
        pairs.first.push_back(of_preloads ? row.preload : row.execute);
        pairs.second.push_back(of_preloads ? row.simulated_preload : row.simulated_execute);
    }
    return pairs;
}

}  // namespace

Agreement agreement(const std::vector<double>& predicted, const std::vector<double>& measured) {
    TESSERA_CHECK(predicted.size() == measured.size(), "{} and {}", predicted.size(), measured.size());
    if (predicted.empty()) return {0, 1};
    const double x = mean_of(predicted), y = mean_of(measured);
    double xy = 0, xx = 0, yy = 0;
    std::vector<double> errors;
    for (size_t i = 0; i < predicted.size(); ++i) {
        xy += (predicted[i] - x) * (measured[i] - y);
        xx += (predicted[i] - x) * (predicted[i] - x);
        yy += (measured[i] - y) * (measured[i] - y);
        errors.push_back(std::abs(predicted[i] - measured[i]) / measured[i]);
    }
    std::sort(errors.begin(), errors.end());
    return {errors[errors.size() / 2], xx * yy > 0 ? xy / std::sqrt(xx * yy) : 1};
}

std::vector<MeasuredRow> measure_rows(const ChipTables& tables, const chip::Schedule& schedule,
                                      const chip::ChipDescription& chip) {
    const chip::Network network(chip.chip);
    std::set<std::pair<size_t, size_t>> known;
    std::vector<MeasuredRow> measured;
    for (size_t i = 0; i < tables.problem.size(); ++i) {
        const size_t o = tables.problem.sequence[i], row = schedule.rows[i];
        if (!known.emplace(o, row).second) continue;
        ChipTables alone{.problem = tables.problem, .operators = tables.operators};
        alone.problem.sequence = {o};
        alone.problem.repeats.clear();
        const std::string& name = tables.problem.operators[o].name;
        const chip::DeviceProgram program =
            device_program(alone, {.rows = {row}, .order = {0}, .slots = {0}}, chip, name, kNoLimit);
        const chip::Simulation run =
            chip::simulate(chip.chip, network, program, name, chip::Recording::kSpans);
        const chip::Row& costs = tables.problem.operators[o].rows[row];
        measured.push_back(
            {name, costs.execute(), length_of(run.executes[0]), costs.preload(), length_of(run.preloads[0])});
    }
    return measured;
}

Agreement execute_agreement(const std::vector<MeasuredRow>& rows) {
    const auto [predicted, measured] = pairs_of(rows, false);
    return agreement(predicted, measured);
}

Agreement preload_agreement(const std::vector<MeasuredRow>& rows) {
    const auto [predicted, measured] = pairs_of(rows, true);
    return agreement(predicted, measured);
}

std::vector<plot::Chart> accuracy_charts(const std::vector<MeasuredRow>& rows) {
    std::vector<plot::Chart> charts;
    for (const bool of_preloads : {false, true}) {
        auto [predicted, measured] = pairs_of(rows, of_preloads);
        plot::Chart chart{.title = of_preloads ? "preloads" : "executes",
                          .x_label = "simulated cycles",
                          .y_label = "cycles of the tables",
                          .kind = plot::ChartKind::kPoints,
                          .categories = {},
                          .series = {},
                          .has_diagonal = true};
        chart.series.push_back({"an operator in a row", std::move(measured), std::move(predicted)});
        charts.push_back(std::move(chart));
    }
    return charts;
}

}  // namespace tessera::partition
