#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "chip/partition/chip_tables.h"
#include "chip/partition/cost_accuracy.h"
#include "chip/simulation.h"
#include "cli/chip_designs.h"
#include "search/rules/compose_maps.h"

namespace tessera::cli {

/// The quantity that a plan minimises.
enum class Objective : uint8_t {
    kLatency,     ///< the time of one step
    kThroughput,  ///< the time of several steps, one after the other
    kEnergy,      ///< the energy of a step, then its time
};
std::string_view name(Objective objective);

/// A plan as `tessera chip plan` reports it.
struct ChipPlan {
    const partition::ChipTables& tables;
    const chip::ChipDescription& chip;
    const partition::Workload& workload;
    Objective objective = Objective::kLatency;
    size_t steps = 1;  ///< that the plan has
    PlannedDesign chosen;
    double bound = 0;
    double ideal = 0;
    std::vector<PlannedDesign> compared;
    const rules::FusedMaps* fusion = nullptr;      ///< of the operators, if they were fused
    double unfused_total = 0;                      ///< by the same design, of the operators apart
    std::optional<chip::Simulation> simulated;     ///< the plan packet by packet: spans
    std::vector<partition::MeasuredRow> measured;  ///< operators alone, if that was asked for
};

nlohmann::ordered_json chip_plan_json(const ChipPlan& plan);
void print_chip_plan(const ChipPlan& plan);

}  // namespace tessera::cli
