#pragma once

#include <cstddef>
#include <string_view>

/// Texts that come in pieces, beside those that are waited for.
namespace tessera::llm {

inline constexpr std::string_view kBlanks = " \t\r\n";

enum class Match { kNot, kPartly, kWhole };

/// Whether a text begins with `wanted`, or may do so when more of it comes. kIdCharacter stands for any
/// letter or digit.
Match match_text(std::string_view text, std::string_view wanted);

/// How much of the end of a text may begin `mark`. @pre the text does not have it
size_t begun_at_end(std::string_view text, std::string_view mark);

/// Bytes of a text without the white space at its end.
size_t trimmed_size(std::string_view text);

}  // namespace tessera::llm
