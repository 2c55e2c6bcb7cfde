#pragma once

#include <string>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// The part of the check that needs no lowering: names, order of execution, storage that is taken over.
void verify_structure(const Graph& graph, const plan::Plan& plan, const std::string& where);

}  // namespace tessera::planner
