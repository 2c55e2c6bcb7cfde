#include "support/shown.h"

#include <algorithm>

namespace tessera {

std::string shown(std::string_view text) {
    constexpr size_t kLongest = 60;
    size_t end = std::min(text.size(), kLongest);
    // Not inside a character.
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
    std::string result(text.substr(0, end));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text.size() > kLongest ? result + "..." : result;
}

}  // namespace tessera
