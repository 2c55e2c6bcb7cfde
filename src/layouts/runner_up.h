#pragma once

#include <optional>
#include <vector>

#include "layouts/choose_layouts.h"

/// What would be chosen if one value did not lie as it does.
namespace tessera::layouts {

/// The node of the problem that has the value computed or, of a constant, stored under this choice, and not
/// copied from another layout; -1 where it is not needed. `value`: as values_of_classes() has it.
int maker_of(const Search& search, egraph::ClassId value, const extraction::Choice& choice);

/// The best solution of the search's own extraction problem in which the value lies otherwise than the search
/// chose: all nodes that make it so are forbidden, everything else is free. Without a choice where there is
/// none. @pre the value is needed
extraction::Result runner_up(const Search& search, egraph::ClassId value, const extraction::Options& options);

/// What one choice has of a value where another one has something else: how it is made, or a copy of it.
struct Change {
    egraph::ClassId value;
    int before = -1, after = -1;  ///< nodes of the problem; -1: nothing
};
/// In the order of the problem's nodes; values that are made otherwise before copies that come or go.
std::vector<Change> changes(const Search& search, const extraction::Choice& from,
                            const extraction::Choice& to);

}  // namespace tessera::layouts
