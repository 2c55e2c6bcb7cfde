#include "cli/plan_costs.h"

#include <cmath>

#include <fmt/core.h>

#include "compiler/predicted_steps.h"

namespace tessera::cli {
namespace {

/// Two digits are known at most; small kernels are not all 0.0.
std::string microseconds(double seconds) {
    const double us = seconds * 1e6;
    return fmt::format("{:.{}f}", us, us < 1 ? 3 : us < 100 ? 2 : 1);
}

/// "12.3 us at decode_512 (compute 3.1, memory 11.9, barrier 0.4)".
std::string of_kernel(const cost::KernelCost& cost, const std::string& point) {
    if (!cost.why_infinite.empty()) return fmt::format("not known at {}: {}", point, cost.why_infinite);
    std::string parts = "compute " + microseconds(cost.near_seconds);
    if (cost.stall_seconds > 0) parts += ", stalls " + microseconds(cost.stall_seconds);
    for (const cost::LevelTraffic& level : cost.levels)
        parts += fmt::format(", {} {}", level.level, microseconds(level.seconds));
    if (cost.barrier_seconds > 0) parts += ", barrier " + microseconds(cost.barrier_seconds);
    const std::string times = cost.repeat > 1 ? fmt::format(", {} times", cost.repeat) : "";
    return fmt::format("{} us at {} ({}){}", microseconds(cost.seconds), point, parts, times);
}

std::string of_step(const compiler::PredictedStep& step) {
    const double seconds = cost::total_seconds(step.kernels);
    return std::isfinite(seconds) ? fmt::format("{} us at {}", microseconds(seconds), step.point)
                                  : fmt::format("not known at {}", step.point);
}

}  // namespace

std::string plan_with_costs(const runtime::Artefact& artefact, const machine::Machine& machine) {
    const auto [plan, steps] = compiler::artefact_costs(artefact, machine);
    plan::PlanComments comments;
    const char* source =
        cost::is_measured(machine)
            ? "Predicted by what was measured of"
            : "Roofs that such a machine typically has, no predictions: nothing was measured of";
    comments.plan = {
        fmt::format("{} machine {} ({}).", source, machine.name, machine::content_hash(machine))};
    comments.specialisations.resize(plan.specialisations.size());
    for (const compiler::PredictedStep& step : steps) {
        auto& of = comments.specialisations[step.specialisation];
        of.kernels.resize(plan.specialisations[step.specialisation].kernels.size());
        of.step.push_back(of_step(step));
        for (const cost::KernelCost& cost : step.kernels)
            of.kernels[cost.kernel].push_back(of_kernel(cost, step.point));
    }
    return plan::print(plan, comments);
}

}  // namespace tessera::cli
