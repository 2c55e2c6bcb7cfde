#pragma once

#include <cstdint>
#include <string>

#include "chip/partition/chip_tables.h"
#include "chip/partition/execute_program.h"
#include "ir/graph_interpreter.h"

namespace tessera::partition {

/// A graph with contents for one call.
struct GraphAndCall {
    Graph graph;
    GraphCall call;
};

/// A graph of one operator, at its test contents. Operands are inputs and constants by turns, the previous
/// contents of an update are a state.
GraphAndCall graph_of(const DefinitionFile& file, uint64_t seed);

/// A plan of a call on a chip, made of rows that are drawn.
struct DrawnPlan {
    ChipTables tables;
    chip::Schedule schedule;
};
/// @throws Error as chip_tables
DrawnPlan draw_plan(const Graph& graph, const GraphCall& call, const chip::ChipDescription& chip,
                    uint64_t seed);

/// The program of the plan, simulated and executed.
ExecutedProgram run_program(const Graph& graph, const GraphCall& call, const ExecutableProgram& program,
                            const ChipTables& tables, const chip::ChipDescription& chip);

/// The first result that is not the interpreter's, to some roundings of its type; empty if all are.
std::string difference(const Graph& graph, const GraphCall& call, const GraphResult& found);

}  // namespace tessera::partition
