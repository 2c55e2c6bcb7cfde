#pragma once

#include <vector>

#include "search/extraction/instance.h"

namespace tessera::extraction {

/// The strongly connected component of each of these classes (an edge leads from a class to the children of
/// its nodes), numbered so that children come before parents; -1 for other classes.
/// Source: Tarjan: Depth-First Search and Linear Graph Algorithms, 1972.
std::vector<int> components(const Instance& instance, const std::vector<int>& classes);

}  // namespace tessera::extraction
