#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/interpreter.h"

namespace tessera {

/// Contents of the states, by name: one tensor for each repetition of the block.
using GraphStates = std::map<std::string, std::vector<TensorData>>;

/// One call of a step.
struct GraphCall {
    std::map<std::string, int64_t> symbols;
    std::map<std::string, TensorData> inputs;  ///< by name
    /// Contents of a constant at a repetition of its block; asked for each (value, repetition) once.
    std::function<TensorData(const Value& constant, int64_t repetition)> constant;
    GraphStates states;  ///< before the step
    /// Results of a composite; without it they are refused.
    std::function<std::vector<TensorData>(const Node& node, const std::vector<TensorData>& operands)>
        composite = {};
};

struct GraphResult {
    std::vector<TensorData> outputs;  ///< as Graph::outputs
    GraphStates states;               ///< after the step
};

/// States full of zeros.
GraphStates zero_states(const Graph& graph, const std::map<std::string, int64_t>& symbols);

/// Runs a step node by node with the definition interpreter, each result rounded to its type: slow and
/// obvious.
/// @throws Error for an input or a state that is missing or has another shape, and for a composite
/// (`decompose` first).
GraphResult interpret_graph(const Graph& graph, const GraphCall& call);

}  // namespace tessera
