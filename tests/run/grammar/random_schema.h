#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace tessera::grammar {

/// The JSON of a schema with every keyword that is followed. Some are refused.
std::string random_schema(std::mt19937& random);

}  // namespace tessera::grammar
