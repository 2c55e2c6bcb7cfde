#pragma once

#include <map>
#include <vector>

#include "search/egraph/e_graph.h"

namespace tessera::layouts {

/// The classes that hold one value in different layouts, by the least of them: those that packs connect.
std::map<egraph::ClassId, egraph::ClassId> values_of_classes(const egraph::EGraph& graph);

}  // namespace tessera::layouts
