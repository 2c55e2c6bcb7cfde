#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/grammar/rule_set.h"

namespace tessera::grammar {

inline constexpr char32_t kLargestCodePoint = 0x10ffff;

/// The ranges in ascending order, apart from each other, without surrogates, which are no characters.
std::vector<CodePointRange> normalized(const std::vector<CodePointRange>& ranges);
/// Every other character.
std::vector<CodePointRange> complement(const std::vector<CodePointRange>& ranges);

struct ByteRange {
    uint8_t first = 0;
    uint8_t last = 0;
    bool operator==(const ByteRange&) const = default;
};
/// Texts of one to four bytes: the first byte from the first range, and so on.
using ByteSequence = std::vector<ByteRange>;

/// The UTF-8 of the characters of normalised ranges, each by exactly one sequence.
///
///     [U+0041, U+1FFF]  ->  41..7F | C2..DF 80..BF | E0 A0..BF 80..BF | E1 80..BF 80..BF
///
/// Source: Cox, "Regular Expression Matching in the Wild" (2010), on UTF-8 ranges.
std::vector<ByteSequence> utf8_sequences(const std::vector<CodePointRange>& ranges);

void append_utf8(std::string& out, char32_t code_point);
/// The code points of a text. @pre UTF-8
std::u32string characters_of(std::string_view text);

}  // namespace tessera::grammar
