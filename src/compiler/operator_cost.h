#pragma once

#include <cstdint>
#include <optional>

#include "machine/machine.h"
#include "search/rules/rewrite.h"

namespace tessera::compiler {

/// Cost of an operator in seconds: the sum over the graph's points by their weights (without points, at the
/// largest sizes), since all specialisations share the graph.
///
/// It is that of its fastest candidate among the micro-kernels as a kernel of its own, divided among the
/// workers (cost/lone_operator.h); infinite where there is none, or no code. Operands whose shape has no
/// symbols come from where constants lie. A view (lowering/views.h) computes nothing, and costs 1 ns where
/// neighbours along its last axis are neighbours in memory too; one that tears them apart, such as a
/// transpose of that axis, costs as much as a copy, since its readers gather. A composite has no kernel:
/// infinite.
rules::OperatorCost operator_cost(const Graph& graph, const machine::Machine& machine,
                                  std::optional<int64_t> workers);

}  // namespace tessera::compiler
