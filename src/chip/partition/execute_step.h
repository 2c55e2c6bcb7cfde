#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chip/chip_description.h"
#include "chip/partition/chip_tables.h"
#include "chip/partition/execute_program.h"
#include "chip/plan_schedule.h"
#include "ir/graph_interpreter.h"

namespace tessera::partition {

/// A step with its plan and its program, ready to be simulated and executed.
struct PlannedStep {
    Graph graph;  ///< without composites
    ChipTables tables;
    chip::PlanResult plan;
    ExecutableProgram program;
};

/// Plans one call of a step on a chip, with the numbers of its index inputs. The plan leaves room for the
/// values that lie on each core.
/// @throws Error where the chip has no plan for an operator, as executable_program, and naming what is too
/// large to be executed with real numbers
PlannedStep plan_step(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                      const std::string& where, const chip::PlanOptions& options = {});

/// The step of a device program that may have been edited (chip/partition/edited_program.h). Its `plan` has
/// the schedule, and the total that the evaluator gives it if it fits the SRAM, else 0.
/// @param program text of it, from `program_where`
/// @throws Error as plan_step, and naming a place of the program
PlannedStep edited_step(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                        const std::string& where, std::string_view program, const std::string& program_where);

/// The device program of a step with the plan of each operator, as edited_step reads it.
std::string step_program_json(const PlannedStep& step, const chip::Chip& chip);

struct ExecutedStep {
    ExecutedProgram executed;
    double cycles = 0;  ///< in the simulator
};

/// Simulates the program and executes it (execute_program).
ExecutedStep execute_step(const PlannedStep& step, const chip::ChipDescription& chip, const GraphCall& call);

/// Iterations of all operators together, some minutes, and elements of all that the HBM holds.
inline constexpr int64_t kMostExecutedIterations = 1'000'000'000;
inline constexpr int64_t kMostFarElements = int64_t{1} << 27;

}  // namespace tessera::partition
