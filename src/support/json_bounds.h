#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// Limits of a JSON document, checked before anything is built from it. A parsed value takes 16 to 250 bytes
/// however short its text is, so the number of values bounds the memory, and the size of the text does not.
struct JsonBounds {
    size_t bytes = size_t{1} << 20;  ///< of the text
    size_t values = 400'000;         ///< in all, keys included: at most about 50 MiB
    int depth = 32;                  ///< arrays and objects inside each other
    size_t word = size_t{1} << 20;   ///< bytes of one string, number, or run of blanks
};

/// Looks at the brackets, commas, quotes and lengths of a text without building anything. Accepted text need
/// not be JSON, but can be given to a parser without risk.
/// @throws Error naming `where` and the bound that is exceeded.
void check_json_bounds(std::string_view text, const JsonBounds& bounds, const std::string& where);

}  // namespace tessera
