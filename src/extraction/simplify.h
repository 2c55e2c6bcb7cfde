#pragma once

#include "extraction/instance.h"

namespace tessera::extraction {

/// Each inference can be switched off, so that tests can show that it pays and changes no optimum.
struct SimplifyOptions {
    bool inline_free = true;  ///< classes whose only node costs nothing give way to their children
    bool needed = true;       ///< sets of classes that every way to compute a class needs, and what follows
    int rounds = 30;          ///< at most, of all inferences together
};

/// Takes out of the instance what some optimum does without, to a fixpoint: nodes that cannot be computed,
/// that cost more than another one in any context, or of which every solution costs more than `upper`, the
/// cost of a known one. Makes roots of what every solution needs.
/// @return false if a root cannot be computed
bool simplify(Instance& instance, Weight upper, const SimplifyOptions& options = {});

/// A choice for the instance before simplification from one for the instance after it: what was inlined is
/// found again. Empty if the choice is not complete.
std::optional<Incumbent> restore(const Instance& before, const Instance& after, const Choice& choice);

}  // namespace tessera::extraction
