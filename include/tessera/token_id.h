#pragma once

#include <cstdint>

namespace tessera {

/// A token, by its index in the vocabulary.
using TokenId = int32_t;

}  // namespace tessera
