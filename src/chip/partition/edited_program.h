#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chip/partition/executable_program.h"

namespace tessera::partition {

/// A device program that may have been edited: the order of preloads and executes, plans, transfers, tiles.
struct EditedProgram {
    chip::DeviceProgram program;  ///< an operator without spaces does what its plan says
    std::vector<StatedPlan> plans;
};

/// @throws Error naming the place, for operators that are not those of the workload in their order, too
EditedProgram read_edited_program(std::string_view json, const std::string& where, const Workload& workload,
                                  const chip::ChipDescription& chip);

/// The preloads of a program as a schedule.
chip::Schedule schedule_of(const chip::DeviceProgram& program, std::vector<size_t> rows);

/// Gives a program that was made from the plans the entries, transfers, tiles and spaces of the edited one.
/// A transfer or a tile carries or computes what that of the plan with the same ends, step and bytes does.
/// One that is left out does nothing: execute_program says what is missing then, and when.
/// @throws Error naming the place of a transfer or tile that the plan does not have
void take_edits(ExecutableProgram& made, const EditedProgram& edited, const std::string& where);

}  // namespace tessera::partition
