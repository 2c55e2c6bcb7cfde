#include "tessera/inspect.h"

#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>
#include <toml++/toml.h>

#include "compiler/api/artefact_machine.h"
#include "compiler/operator_work.h"
#include "compiler/predicted_steps.h"
#include "lowering/kernels/micro_kernels.h"
#include "support/error.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_or_null(double seconds) {
    return std::isfinite(seconds) ? Json(seconds) : Json(nullptr);
}

/// The document that a plan is, with its own names.
Json plan_json(const runtime::Artefact& artefact) {
    // Refuses what is no plan, and so no TOML.
    (void)plan::parse_plan(artefact.plan(), artefact.where(), kernels::micro_kernels());
    std::ostringstream text;
    text << toml::json_formatter{toml::parse(artefact.plan())};
    return Json::parse(text.str());
}

Json work_json(const runtime::Artefact& artefact) {
    Json points = Json::array();
    for (const compiler::WorkAtPoint& at :
         compiler::operator_work(parse_graph(artefact.graph(), artefact.where()))) {
        Json operators = Json::array();
        for (const compiler::OperatorWork& one : at.operators)
            operators.push_back({{"block", one.block},
                                 {"operator", one.name},
                                 {"times", one.repeat},
                                 {"flops", one.flops},
                                 {"special", one.special},
                                 {"bytes", one.bytes}});
        points.push_back({{"point", at.point}, {"operators", std::move(operators)}});
    }
    return points;
}

Json kernel_json(const cost::KernelCost& cost) {
    Json levels = Json::array();
    for (const cost::LevelTraffic& level : cost.levels)
        levels.push_back(
            {{"level", level.level}, {"bytes", level.bytes}, {"seconds", seconds_or_null(level.seconds)}});
    return {{"block", cost.block},
            {"kernel", cost.name},
            {"times", cost.repeat},
            {"seconds", seconds_or_null(cost.seconds)},
            {"compute_seconds", seconds_or_null(cost.near_seconds)},
            {"stall_seconds", seconds_or_null(cost.stall_seconds)},
            {"barrier_seconds", seconds_or_null(cost.barrier_seconds)},
            {"levels", std::move(levels)},
            {"unknown", cost.why_infinite}};
}

Json costs_json(const runtime::Artefact& artefact, const InspectSettings& settings) {
    const machine::Machine machine =
        machine_for(artefact, settings.machine, "costs", settings.measured_machines);
    const compiler::ArtefactCosts costs = compiler::artefact_costs(artefact, machine);
    Json steps = Json::array();
    for (const compiler::PredictedStep& step : costs.steps) {
        Json kernels = Json::array();
        for (const cost::KernelCost& cost : step.kernels) kernels.push_back(kernel_json(cost));
        steps.push_back({{"point", step.point},
                         {"specialisation", costs.plan.specialisations[step.specialisation].name},
                         {"seconds", seconds_or_null(cost::total_seconds(step.kernels))},
                         {"kernels", std::move(kernels)}});
    }
    return {{"machine", machine.name},
            {"machine_hash", machine::content_hash(machine)},
            {"is_measured", cost::is_measured(machine)},
            {"steps", std::move(steps)}};
}

}  // namespace

std::string inspect(const std::filesystem::path& path, const InspectSettings& settings) {
    const runtime::Artefact artefact = runtime::Artefact::open(path);
    const Json document = {{"manifest", Json::parse(runtime::print(artefact.manifest()))},
                           {"plan", plan_json(artefact)},
                           {"operators", work_json(artefact)},
                           {"costs", settings.costs ? costs_json(artefact, settings) : Json(nullptr)}};
    return document.dump(1);
}

std::string plan_text(const std::filesystem::path& artefact) {
    return std::string(runtime::Artefact::open(artefact).plan());
}

}  // namespace tessera
