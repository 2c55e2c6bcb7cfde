#pragma once

#include <string>
#include <string_view>

#include "distribution/problem.h"

namespace tessera::distribution {

/// Reads a `.dist` file: operators in the notation of definitions, and below them the devices, the memory,
/// and how constants, inputs and outputs are stored (docs/distribution.md).
/// @throws Error for what is no such file, with the line.
Problem read_problem(std::string_view text, const std::string& where);

}  // namespace tessera::distribution
