#pragma once

#include <string>
#include <vector>

#include "chip/simulation.h"
#include "ir/graph_interpreter.h"
#include "partition/executable_program.h"

namespace tessera::partition {

/// What an executed program leaves behind.
struct ExecutedProgram {
    GraphResult result;
    std::vector<int64_t> sram_peak;  ///< of each core: bytes of numbers that it held at one time, at most
};

/// Executes a program on real numbers in the order of the events of its simulation: a core computes with what
/// has arrived there by then, and with nothing else.
///
/// Numbers that the HBM delivers are read when their preload is issued, those of a transfer when it is sent;
/// they are at their receivers when its last packet has arrived. Parts of a sum are added as they arrive.
/// @param simulation of program.program, with all records
/// @throws Error naming the operator, the core, the tensor and an element that is read where it is not, parts
/// of a sum that do not arrive, a result that is not where it belongs, and a core whose numbers take more
/// than its SRAM
ExecutedProgram execute_program(const Graph& graph, const ExecutableProgram& program,
                                const ChipTables& tables, const chip::ChipDescription& chip,
                                const chip::Simulation& simulation, const GraphCall& call);

}  // namespace tessera::partition
