#pragma once

#include <cstdint>
#include <string>

#include "ir/definition.h"

namespace tessera {

struct RandomDefinitionOptions {
    int64_t largest_box = 20'000;  ///< iterations
};

/// A small valid definition with its test part, as text; the same seed gives the same text everywhere. Draws
/// windows, `div` and `mod`, indirect components in operands and results, ragged predicates, several reads of
/// one operand, post-expressions, all monoids, updates, casts, all element types, dims with divisors, tiles,
/// lanes and units. It binds, passes check_bound, and the zoo's oracle accepts it.
std::string random_definition_text(uint64_t seed, const RandomDefinitionOptions& options = {});
DefinitionFile random_definition(uint64_t seed, const RandomDefinitionOptions& options = {});

}  // namespace tessera
