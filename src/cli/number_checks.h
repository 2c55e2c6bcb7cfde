#pragma once

#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>

/// Checks of an option's text. CLI11 itself takes 010 for eight, the largest number for one that is larger,
/// the empty text for any path, and its ranges let NaN pass.
namespace tessera::cli {

/// Tokens that a sequence may have, as far as can be said without its model.
inline constexpr int64_t kMostTokens = int64_t{1} << 24;

/// A whole number in decimal digits. Beyond the largest there is none to name where `high` is left out.
CLI::Validator whole_number(int64_t low, int64_t high = std::numeric_limits<int64_t>::max());

/// The same, or `special`.
CLI::Validator whole_number_or(int64_t special, int64_t low, int64_t high);

/// A whole number, 1 or more.
CLI::Validator positive_count();

/// A whole number, 0 or more.
CLI::Validator count_or_zero();

/// A finite number above 0.
CLI::Validator positive_number();

/// A finite number, 0 or more.
CLI::Validator number_or_zero();

/// A number from 0 to 1.
CLI::Validator fraction();

/// Not the empty text, which a variable of the shell leaves that is not set: a path, a name.
CLI::Validator not_empty();

}  // namespace tessera::cli
