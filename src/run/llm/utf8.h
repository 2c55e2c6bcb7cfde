#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::llm {

/// One step through bytes that should be UTF-8.
struct Utf8Step {
    char32_t code_point;  ///< U+FFFD where malformed
    uint32_t length;      ///< in bytes; 1 where malformed
    bool valid;
};

/// The first character of `text`. Overlong forms, surrogates and code points above U+10FFFF are malformed.
/// @pre text is not empty
Utf8Step first_character(std::string_view text);

/// The longest prefix of one kind: all characters valid, or all bytes malformed. @pre text is not empty
struct Utf8Run {
    std::string_view text;
    bool valid;
};
Utf8Run first_run(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

/// The property White_Space of Unicode.
bool is_white_space(char32_t code_point);
/// True for \w of Unicode Technical Standard 18: letters, marks, decimal digits, connectors, joiners.
bool is_word_character(char32_t code_point);

}  // namespace tessera::llm
