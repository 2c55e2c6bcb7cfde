#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "chip/designs.h"
#include "chip/plan_schedule.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// A design with the schedule that it found.
struct PlannedDesign {
    chip::Design design = chip::Design::kSearch;
    std::optional<chip::DesignedSchedule> schedule;  ///< none: it finds none, or is no schedule
    double total = 0;                                ///< 0 without a schedule, except for the ideal
};

/// Adds --design and --compare.
void add_designs(CLI::App& app, std::string& design, bool& compares);

/// @throws Error for a name that is no design with a schedule
chip::Design stated_design(const std::string& name);

/// @param searched the schedule of the search
PlannedDesign planned_design(const chip::ScheduleProblem& problem, chip::Design design,
                             const chip::PlanResult& searched, const std::function<bool()>& must_stop);

/// A table of totals, and one of their parts and of the orders that were tried.
void print_designs(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared);

/// Totals by name as `designs`, and their parts as `terms`.
void add_designs_json(const chip::ScheduleProblem& problem, const std::vector<PlannedDesign>& compared,
                      nlohmann::ordered_json& json);

}  // namespace tessera::cli
