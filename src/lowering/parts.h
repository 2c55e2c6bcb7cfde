#pragma once

#include "lowering/storage.h"

/// A reduction that is divided between the workers: each folds its positions into parts, a copy of the
/// results in F32, and a later kernel combines them.
namespace tessera::lowering {

/// The operator of which a kernel leaves parts, since its `@worker` stands over a reduction; null if none.
const Node* parted_operator(const plan::Nest& nest, const Block& block);

/// Whether the leaf combines the parts of its operator.
bool combines_parts(const plan::Leaf& leaf);

}  // namespace tessera::lowering
