#pragma once

#include "lowering/storage.h"

/// A reduction that is divided between the workers: each folds its positions into parts, a copy of the
/// results in F32, and a later kernel combines them.
namespace tessera::lowering {

/// The operator that a kernel leaves in parts, since its `@worker` loop is over a reduction; null if none.
const Node* parted_operator(const plan::Nest& nest, const Block& block);

/// True if the leaf combines the parts of its operator.
bool combines_parts(const plan::Leaf& leaf);

}  // namespace tessera::lowering
