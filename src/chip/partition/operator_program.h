#pragma once

#include <vector>

#include "chip/device_program.h"
#include "chip/partition/chip_tables.h"
#include "chip/partition/program_contents.h"
#include "chip/schedule_problem.h"

namespace tessera::partition {

/// An operator of a device program.
struct MadeOperator {
    chip::ProgramOperator program;
    OperatorContents contents;   ///< only where homes were given
    std::vector<Homes> results;  ///< of each tensor that is a result: where it lies then; likewise
};

/// Makes the program of an operator in one of its rows: every tile on a core, and every transfer.
///
/// A tile's compute is given to its unit as so many flops that the simulator, which knows no blocks, ports
/// and overheads, takes its cycles. `homes`: the elements of each tensor that lie on the chip. With them,
/// transfers carry the very elements that a core needs from where they lie, and have their bytes. Without
/// them the operand is assumed to lie in even parts on the cores that share it, on the next core if none
/// does, and bytes are those of whole tiles.
/// @pre with homes: the plan has no rotation_fault
MadeOperator make_operator(const PlannedOperator& op, const chip::Row& costs, const PlannedRow& row,
                           const chip::ChipDescription& chip, const std::vector<Homes>* homes = nullptr);

}  // namespace tessera::partition
