#pragma once

#include <optional>

#include "nest/nests/walk.h"

namespace tessera::nests {

/// The box of what an operator reads of a tensor in these ranges, by visiting every iteration.
std::optional<Box> naive_read_box(const Kernel& kernel, int op, int tensor,
                                  const facts::IterationBox& ranges);

/// The walk as the rules say it: every range and box is derived anew at each place by visiting iterations,
/// and every passage is remembered and compared with all others. Shares no derivation with the walk of
/// src/nest/nests.
Movement naive_walk(const Kernel& kernel, const Nest& nest);

}  // namespace tessera::nests
