#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::fuzz {

using Random = std::mt19937_64;

/// `input` with one to four things changed: a bit, a byte, a number in text or in binary (the extremes of
/// every width, and lengths near that of the input), a part that is cut off, left out, repeated, nested, or
/// taken from another input. Depends on the arguments alone. At most `longest` bytes.
std::string mutate(std::string input, const std::vector<std::string>& others, size_t longest, Random& random);

}  // namespace tessera::fuzz
