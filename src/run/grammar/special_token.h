#pragma once

#include <string>
#include <string_view>

namespace tessera::grammar {

/// No text in UTF-8 has this byte, so no class of characters and no token of text leads over it.
inline constexpr char kSpecialMark = '\xff';

/// A special token as automata read it, told from the text that looks like it:
///
///     <think>     a text of seven characters
///     FF <think> FF     the token
///
/// Both marks are needed: the text of a token may begin like that of another.
inline std::string special_token(std::string_view text) {
    return kSpecialMark + std::string(text) + kSpecialMark;
}

}  // namespace tessera::grammar
