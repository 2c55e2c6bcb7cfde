#pragma once

#include <CLI/CLI.hpp>

/// Checks of an option's number. Those of CLI11 name the largest double where there is no upper bound, and
/// let NaN pass.
namespace tessera::cli {

/// A whole number, 1 or more.
CLI::Validator positive_count();

/// A whole number, 0 or more.
CLI::Validator count_or_zero();

/// A finite number above 0.
CLI::Validator positive_number();

/// A finite number, 0 or more.
CLI::Validator number_or_zero();

}  // namespace tessera::cli
