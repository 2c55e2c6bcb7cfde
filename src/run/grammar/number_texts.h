#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/grammar/text_automaton.h"

namespace tessera::grammar {

/// A number of a schema in decimal, exactly: "-1.5e3" has the digits 15 and the exponent 2, the value -15 *
/// 10^2.
struct Decimal {
    bool is_negative = false;
    std::string digits;    ///< without zeros at either end; empty: zero
    int64_t exponent = 0;  ///< of ten, of the last digit
    bool operator==(const Decimal&) const = default;
};
/// @pre a number of JSON. None where the exponent is beyond +-400.
std::optional<Decimal> decimal_of(std::string_view number);

std::strong_ordering compare(const Decimal& a, const Decimal& b);

/// Digits of a number on each side of its point. Python and JavaScript write no double with more, unless they
/// write an exponent.
inline constexpr int64_t kMostWholeDigits = 16;
inline constexpr int64_t kMostFractionDigits = 20;

struct NumberTexts {
    bool are_whole = false;              ///< without point and exponent
    std::optional<Decimal> low = {};     ///< at least, or above it
    std::optional<Decimal> high = {};    ///< at most, or below it
    bool is_low_open = false;            ///< above
    bool is_high_open = false;           ///< below
    std::optional<Decimal> factor = {};  ///< times an integer; above 0
};

/// Texts of such numbers in JSON. Without a factor, numbers below 1e-4 and from 1e16 on may have an exponent
/// of two digits, where all of that size are within the bounds.
///
///     at least 12      1 -> 2..9 -> any digits        2..9 -> a digit -> any digits
///
/// None if that takes more than kMostTextStates states.
std::optional<TextAutomaton> number_texts(const NumberTexts& wanted);

}  // namespace tessera::grammar
