#pragma once

#include "search/extraction/instance.h"

namespace tessera::extraction {

/// Each inference can be switched off, so that tests can show that it pays and changes no optimum.
struct SimplifyOptions {
    bool inline_free = true;  ///< classes whose only node costs nothing give way to their children
    bool needed = true;       ///< sets of classes that every way to compute a class needs, and inferences
                              ///< from them
    int rounds = 30;          ///< at most, of all inferences together
};

/// Removes from the instance, to a fixpoint, nodes that some optimum does without: nodes that cannot be
/// computed, that cost more than another one in any context, or all of whose solutions cost more than
/// `upper`, the cost of a known one. Classes that every solution needs become roots.
/// @return false if a root cannot be computed
bool simplify(Instance& instance, Weight upper, const SimplifyOptions& options = {});

/// A choice for the instance before simplification from one for the instance after it: inlined classes are
/// restored. Empty if the choice is not complete.
std::optional<Incumbent> restore(const Instance& before, const Instance& after, const Choice& choice);

}  // namespace tessera::extraction
