#pragma once

#include "compiler/compiler.h"
#include "distribution/spmd/local_operator.h"

namespace tessera::compiler {

/// Seconds of a rank's part of an operator as the compiler would compute it: an operator that reads weights
/// in its best layouts (search/layouts/choose_layouts.h), any other one as in compiler/operator_cost.h;
/// infinite where nothing computes it. The graph is that of all ranks and must outlive the result.
spmd::LocalSeconds local_seconds(const Graph& graph, const CompileOptions& options);

}  // namespace tessera::compiler
