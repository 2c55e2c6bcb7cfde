#pragma once

#include <string>

#include "ir/graph.h"
#include "lowering/plan/nest.h"

namespace tessera::planner {

/// Refuses a leaf that names no operator of the block, or a micro-kernel that does not implement it, or one
/// that lacks a parameter.
void verify_leaf(const Block& block, const plan::Leaf& leaf, const std::string& where);

}  // namespace tessera::planner
