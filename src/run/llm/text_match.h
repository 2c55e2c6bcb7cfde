#pragma once

#include <cstddef>
#include <string_view>

/// Compares texts that come in pieces with expected ones.
namespace tessera::llm {

inline constexpr std::string_view kBlanks = " \t\r\n";

enum class Match { kNot, kPartly, kWhole };

/// The match of a text with `wanted`: partly if it may begin with it when more comes. kIdCharacter stands for
/// any letter or digit.
Match match_text(std::string_view text, std::string_view wanted);

/// The length of the longest end of a text that may begin `mark`. @pre the text does not have it
size_t begun_at_end(std::string_view text, std::string_view mark);

/// The length of a text without the white space at its end.
size_t trimmed_size(std::string_view text);

}  // namespace tessera::llm
