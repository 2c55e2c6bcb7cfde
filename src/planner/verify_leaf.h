#pragma once

#include <string>

#include "ir/graph.h"
#include "plan/nest.h"

namespace tessera {

/// Refuses a leaf that names no operator of the block, or a micro-kernel that does not implement it, or one
/// that lacks a parameter.
void verify_leaf(const Block& block, const Leaf& leaf, const std::string& where);

}  // namespace tessera
