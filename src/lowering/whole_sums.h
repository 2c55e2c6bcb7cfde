#pragma once

#include "lowering/storage.h"

namespace tessera::lowering {

/// Compiled code adds in f32, which holds integers up to 2^24.
/// @throws Error naming a sum or product of integers that is stored as integers and may exceed them.
void expect_exact_sums(const Node& node, const Storage& storage);

}  // namespace tessera::lowering
