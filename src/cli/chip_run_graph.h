#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cli {

/// One step of a graph, executed on a simulated chip with contents that are drawn.
struct GraphRun {
    std::string graph;
    std::string chip;
    std::vector<std::string> symbols;
    std::string program;  ///< that is executed; empty: one is planned
    std::string out;      ///< where it is written; empty: nowhere
    int64_t work = 0;
    uint64_t seed = 0;
    bool fuses = false;
    bool as_json = false;
};

/// @throws Error where an output or a state is not the interpreter's, besides what planning and executing
/// throw
int run_graph_on_chip(const GraphRun& run);

}  // namespace tessera::cli
