#pragma once

#include <string>
#include <vector>

#include "lowering/plan/nest.h"
#include "lowering/ranges.h"

/// The rules of nests (nest_rules.h), asked of symbolic ranges. All throw Refused where one is broken.
namespace tessera::lowering {

/// The loops around a place in a nest.
struct LoopsAround {
    std::vector<std::string> variables;  ///< of those that have several trips, outermost first
    int stopped = 0;                     ///< how many a predicate ends, maybe at once
};

void check_part(const Node& node, const Ranges& ranges, const LoopsAround& around, const Storage& storage);

/// @param x the iterator of a loop inside a loop over the reduction
void check_folds_once(const Node& node, int x, const Storage& storage);

void check_hidden(const plan::Nest& inner, const std::vector<const Node*>& kernel, const Storage& storage);

}  // namespace tessera::lowering
