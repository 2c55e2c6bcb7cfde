#pragma once

#include <vector>

#include "distribution/spmd/shard.h"
#include "ir/graph_interpreter.h"

namespace tessera::spmd {

/// Interprets the programs of all devices together: each in a thread, which meets the others at the boxes.
/// @param call of the whole graph: each device gets its parts of inputs, constants and states
/// @return the outputs of each device, and its states after the step
/// @throws Error as interpret_graph; also where devices come to different boxes
std::vector<GraphResult> interpret_ranks(const Graph& graph, const ModelDistribution& plan,
                                         const std::vector<LocalGraph>& locals, const GraphCall& call);

/// The part of one device in a call of the whole graph. @pre all outlive the result
GraphCall local_call(const Graph& graph, const ModelDistribution& plan, const LocalGraph& local,
                     const GraphCall& call, std::span<const int64_t> device);

/// The elements of a row-major tensor in these ranges.
TensorData part_of_data(const TensorData& whole, std::span<const facts::Range> ranges);

}  // namespace tessera::spmd
