#pragma once

#include <optional>
#include <vector>

#include "search/layouts/choose_layouts.h"

/// The choice if one value were not allowed to lie as it does.
namespace tessera::layouts {

/// The node of the problem that computes the value under this choice, or stores a constant, and does not copy
/// it from another layout; -1 where it is not needed. `value`: as values_of_classes() has it.
int maker_of(const Search& search, egraph::ClassId value, const extraction::Choice& choice);

/// The best solution of the search's own extraction problem in which the value lies otherwise than the search
/// chose: all nodes that make it so are forbidden, everything else is free. Without a choice where there is
/// none. @pre the value is needed
extraction::Result runner_up(const Search& search, egraph::ClassId value, const extraction::Options& options);

/// A difference between two choices for one value: the way it is made, or a copy of it.
struct Change {
    egraph::ClassId value;
    int before = -1, after = -1;  ///< nodes of the problem; -1: nothing
};
/// In the order of the problem's nodes; values that are made otherwise before copies that come or go.
std::vector<Change> changes(const Search& search, const extraction::Choice& from,
                            const extraction::Choice& to);

}  // namespace tessera::layouts
