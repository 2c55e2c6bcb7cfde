#pragma once

#include <string>

#include "search/egraph/e_graph.h"

namespace tessera::layouts {

/// "matmul(row-major, lanes <0:16>) -> row-major": the operator, how its operands and its result lie.
std::string form_text(const egraph::EGraph& graph, egraph::TermId term);

}  // namespace tessera::layouts
