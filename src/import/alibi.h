#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/term.h"

namespace tessera::import {

/// The slopes of ALiBi: powers of two from 2^(-largest / n) to 2^-largest in equal steps of the exponent,
/// where n is the number of heads, or, for a number that is no power of two, the next lower one; then every
/// second one of 2 n. Source: Press et al., "Train Short, Test Long", 2022, section 3, and its code.
struct AlibiSlopes {
    int64_t heads = 1;
    double largest = 8;  ///< exponent

    std::vector<float> values() const;
    /// The name of the constant: "alibi(12, 8)".
    std::string source() const;
    bool operator==(const AlibiSlopes&) const = default;
};

/// The slopes that a call alibi(heads) or alibi(heads, largest) means; empty for other terms.
std::optional<AlibiSlopes> alibi_slopes_in(const Term& term);

}  // namespace tessera::import
