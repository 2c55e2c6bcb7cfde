#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// How a schedule is found: the designs that paper 003, 6.1 compares, and the search of this project.
enum class Design : uint8_t {
    kBasic,    ///< fastest executes; only the next operator is preloaded beside one, into what is left
    kStatic,   ///< fixed spaces for executes and for preloads, the best ones for the whole model
    kElkDyn,   ///< induction and allocation (4.2, 4.3), preloads in order
    kElkFull,  ///< with the orders of 4.4
    kSearch,   ///< plan_schedule
    kIdeal,    ///< no schedule, but a bound: links for preloads alone, SRAM for each alone
};
inline constexpr Design kDesigns[] = {Design::kBasic,   Design::kStatic, Design::kElkDyn,
                                      Design::kElkFull, Design::kSearch, Design::kIdeal};
std::string_view name(Design design);
std::optional<Design> design_of(std::string_view name);

struct DesignedSchedule {
    Schedule schedule;
    size_t orders = 1;         ///< of preloads that were tried
    size_t edit_distance = 0;  ///< of the best one in each layer
};

/// The schedule of one of the first four designs; none if it finds no valid one. Every schedule is run and
/// checked by the one evaluator.
/// @pre there is a valid schedule
std::optional<DesignedSchedule> schedule_by_design(const ScheduleProblem& problem, Design design,
                                                   const std::function<bool()>& must_stop = {});

/// Cycles that no schedule is below: every execute at its fastest without distribution, every preload at its
/// smallest, no contention and no limit of SRAM.
double ideal_total(const ScheduleProblem& problem);

}  // namespace tessera::chip
