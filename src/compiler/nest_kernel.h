#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "nests/nest.h"
#include "plan/nest.h"

namespace tessera::compiler {

/// A kernel of nests/ with its nest.
struct NestKernel {
    nests::Kernel kernel;
    std::vector<std::string> visible;  ///< results before the last operator that are stored, too
    nests::WrittenNest nest;
};

/// The nest of a graph's operators as a kernel of nests/, on which the published models count. Its first
/// loops over parallel iterators of the root become units: those are the blocks of MCFuser.
/// @param symbols their values
/// @param tiles names of values of which only tiles exist; other results are stored
/// @throws Error for an operator that kernels do not have: one that updates a state, or reads indices, or
/// reads one value as two operands
NestKernel nest_kernel(const Graph& graph, const plan::Nest& nest,
                       const std::map<std::string, int64_t>& symbols, const std::set<std::string>& tiles);

}  // namespace tessera::compiler
