#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph_interpreter.h"

/// A random program with one call of it.
namespace tessera::fuzz {

struct Program {
    Graph graph;  ///< one block, run once
    std::map<std::string, int64_t> symbols;
    std::map<std::string, TensorData> inputs;     ///< by name
    std::map<std::string, TensorData> constants;  ///< by source
    std::map<std::string, TensorData> states;     ///< by name, before the call
    std::vector<std::string> kinds;               ///< of each node: the family that made it
    int64_t search_effort = 1;                    ///< with which it is compiled

    /// The call, of this program or of one that passes made of it. @pre outlives the call
    GraphCall call() const;
};

/// The contents of a constant that may be a concatenation of sources.
TensorData constant_of(const Program& program, const Value& value, int64_t repetition);

/// How often nodes and values were made of a kind: "gather", "node f16", "contents nan" ..
using Coverage = std::map<std::string, int64_t>;
Coverage coverage_of(const Program& program);

}  // namespace tessera::fuzz
