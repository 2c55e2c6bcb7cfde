#pragma once

#include <string>
#include <string_view>

/// Names come from outside, and a terminal obeys control characters: every name that is shown passes here.
namespace tessera {

/// Text as one line. Control characters and bytes that are no UTF-8 are shown as \x1b, a line break as \n.
std::string printable(std::string_view text);

/// The same, but line breaks and tabs stay.
std::string printable_lines(std::string_view text);

/// Bytes that are no UTF-8 become U+FFFD, since neither JSON nor TOML can hold them.
std::string valid_utf8(std::string_view text);

}  // namespace tessera
