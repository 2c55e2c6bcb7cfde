#pragma once

#include <string>
#include <vector>

#include "chip/partition/executable_program.h"
#include "chip/simulation.h"
#include "ir/graph_interpreter.h"

namespace tessera::partition {

/// The results of an executed program.
struct ExecutedProgram {
    GraphResult result;
    std::vector<int64_t> sram_peak;  ///< of each core: the most bytes of numbers that it held at one time
};

/// Executes a program on real numbers in the order of the events of its simulation: a core computes only with
/// numbers that have arrived there by then.
///
/// Numbers of the HBM are read when their preload is issued, those of a transfer when it is sent; they are at
/// their receivers when the last packet has arrived. Parts of a sum are added as they arrive.
/// @param simulation of program.program, with all records
/// @throws Error naming the operator, the core, the tensor and an element that is read where it is not;
/// missing parts of a sum; a misplaced result; and a core whose numbers take more than its SRAM
ExecutedProgram execute_program(const Graph& graph, const ExecutableProgram& program,
                                const ChipTables& tables, const chip::ChipDescription& chip,
                                const chip::Simulation& simulation, const GraphCall& call);

}  // namespace tessera::partition
