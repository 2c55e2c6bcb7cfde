#pragma once

#include "chip/earliest_timeline.h"

namespace tessera::chip {

/// Copies that stand for all: the first, the last, and those in between.
inline constexpr size_t kFewCopies = 4;

/// The problem with at most `most_copies` copies of each repeat.
ScheduleProblem with_fewer_copies(const ScheduleProblem& problem, size_t most_copies);

/// The choice for a few copies carried over to all: first and last copies as they are, those in between as a
/// copy in the middle. @pre `few` is of with_fewer_copies(problem, ..) with at least three copies
Choice expand_copies(const ScheduleProblem& problem, const ScheduleProblem& fewer, const Choice& few);

}  // namespace tessera::chip
