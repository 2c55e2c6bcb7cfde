#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tessera::compiler {

/// The most that one call of an operator can cost, by its definition alone.
struct OperatorWork {
    std::string block, name;
    int64_t repeat = 1;  ///< of the block
    int64_t flops = 0;
    int64_t special = 0;  ///< exp, rsqrt and their like
    int64_t bytes = 0;    ///< of its tensors, each element once
};

/// All operators of a graph at the values of its symbols that a point names.
struct WorkAtPoint {
    std::string point;
    std::vector<OperatorWork> operators;

    OperatorWork total() const;  ///< of all repetitions; without names
};

/// At the points of the graph; at the largest sizes if it has none.
std::vector<WorkAtPoint> operator_work(const Graph& graph);

}  // namespace tessera::compiler
