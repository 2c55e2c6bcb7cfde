#pragma once

#include "search/extraction/instance.h"

namespace tessera::extraction {

/// For each class the node whose term, as a tree, costs least: shared classes are paid as often as they are
/// used. Fast, and the optimum where nothing is shared. Empty if a root cannot be computed.
std::optional<Choice> bottom_up(const Instance& instance);

/// For each class the node whose set of computed classes costs least, given the sets of its children: pays a
/// shared class once below one node, but chooses each class without regard to the others. Empty as above, or
/// when the sets grow too large for a seed.
std::optional<Choice> greedy_dag(const Instance& instance);

/// Replaces nodes of a valid choice, as long as the cost does not rise, by siblings whose children are
/// computed anyway: cheaper ones, and of equally cheap ones the first. So the search's order does not show in
/// the result.
Incumbent settle(const Instance& instance, Incumbent incumbent);

}  // namespace tessera::extraction
