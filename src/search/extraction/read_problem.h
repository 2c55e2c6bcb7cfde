#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/extraction/problem.h"

namespace tessera::extraction {

/// A problem with the names that its file has for classes and nodes; both are numbered in the order of their
/// names, so that the order of the file does not matter.
struct NamedProblem {
    Problem problem;
    std::vector<std::string> node_names;
    std::vector<std::string> class_names;
};

/// Reads a serialised e-graph as the extraction-gym project keeps them (crate egraph-serialize):
///
///     {"nodes": {"n1": {"op": "+", "children": ["n2", "n2"], "eclass": "c1", "cost": 1.5}, ...},
///      "root_eclasses": ["c1"]}
///
/// A child names any node of the class that is meant. `children` may be absent, `cost` then is 1; a node that
/// is `subsumed` may not be chosen. Other keys are ignored.
/// @throws Error for anything else, naming the node: unknown children and roots, equal names, costs that are
/// no finite numbers, more than a million nodes, or a text of more than 128 MiB.
NamedProblem read_problem(std::string_view json, const std::string& where);

}  // namespace tessera::extraction
