#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chip/chip_description.h"
#include "chip/partition/partition_plans.h"
#include "chip/partition/workload.h"
#include "chip/schedule_problem.h"

namespace tessera::partition {

/// A row of a table: how the operator is executed, and how it is preloaded.
struct PlannedRow {
    ExecutePlan execute;
    PreloadPlan preload;
    double matrix_flops = 0;  ///< of all tiles, whole blocks
    double vector_flops = 0;
};

/// The plans and properties of an operator in the tables.
struct PlannedOperator {
    WorkOperator op;      ///< as one chip executes it
    double exchange = 0;  ///< cycles of waiting for other chips
    std::vector<std::string> iterators;
    std::vector<int64_t> extents;  ///< on one chip
    std::vector<std::string> tensors;
    std::optional<size_t> cut;  ///< among the chips
    int64_t hbm_bytes = 0;      ///< that each chip reads for it
    int64_t stored_bytes = 0;
    int64_t exchange_bytes = 0;
    bool uses_matrix_unit = false;
    PlanCounts counts;
    std::vector<PlannedRow> rows;  ///< as those of the operator in the problem
};

/// The goal of the rows in the tables.
enum class RowChoice : uint8_t {
    kTime,         ///< the fastest plan for each space
    kLeastEnergy,  ///< of the plans with the least energy of all, the fastest for each space
};

struct ChipTables {
    chip::ScheduleProblem problem;
    std::vector<PlannedOperator> operators;  ///< as problem.operators
    int64_t carried_bytes = 0;  ///< of each core's SRAM, for values that wait; not in problem.sram_bytes
    int64_t hbm_bytes = 0;      ///< that a chip reads in a step
    int64_t stored_bytes = 0;
    double product_flops = 0;  ///< of the step, on all chips together
};

/// The problem of scheduling a workload on a chip: for every operator its partition plans, as a front of time
/// against execution space, each with its preloads (docs/chip-plan.md). Equal operators are planned once.
/// @throws Error naming an operator that has no plan within the SRAM, or naming `where` for rows of least
/// energy on a chip without energies
/// @param on_operator is told after each operator how many are done
ChipTables chip_tables(const Workload& workload, const chip::ChipDescription& chip, const std::string& where,
                       RowChoice choice = RowChoice::kTime,
                       const std::function<void(size_t)>& on_operator = {});

/// The tables of stated plans, one for each position of the sequence.
struct StatedTables {
    ChipTables tables;         ///< the rows of an operator are the plans that it has
    std::vector<size_t> rows;  ///< of each position
};

/// @param where the text that states them, with the plan of position i in operators[i].plan
/// @pre there is one for each position of the workload, and one chip
/// @throws Error naming the place of an invalid plan for this chip (PartitionPlans::execution_of, and parts
/// that no preload has)
StatedTables stated_tables(const Workload& workload, const chip::ChipDescription& chip,
                           const std::vector<StatedPlan>& plans, const std::string& where);

}  // namespace tessera::partition
