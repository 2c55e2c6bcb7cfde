#pragma once

#include <cstdint>

namespace tessera {

/// A token by its place in the vocabulary.
using TokenId = int32_t;

}  // namespace tessera
