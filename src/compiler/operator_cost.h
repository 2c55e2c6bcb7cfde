#pragma once

#include <cstdint>
#include <optional>

#include "machine/machine.h"
#include "rules/rewrite.h"

namespace tessera::compiler {

/// Cost of an operator in seconds: the sum over the graph's points by their weights (without points, at the
/// largest sizes), since all specialisations share the graph.
///
/// On a measured machine: the time of its fastest candidate among the micro-kernels, alone and divided among
/// the workers, its operands coming from the main memory; infinite where there is none. Else the time of a
/// nominal machine: 16 GB/s, and at the same time 64 G simple operations a second, of which a special
/// function is worth 16. Predicates count as if they always held. A view (lowering/views.h) computes nothing,
/// and costs 1 ns where neighbours along its last axis are neighbours in memory too; one that tears them
/// apart, such as a transpose of that axis, costs as much as a copy, since its readers gather. A composite
/// has no kernel: infinite.
rules::OperatorCost operator_cost(const Graph& graph, const machine::Machine& machine,
                                  std::optional<int64_t> workers);

}  // namespace tessera::compiler
