#include "support/shown.h"

#include <algorithm>

#include "support/printable.h"

namespace tessera {

std::string shown(std::string_view text) {
    constexpr size_t kLongest = 60;
    size_t end = std::min(text.size(), kLongest);
    // Not inside a character.
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
    const std::string result = printable(text.substr(0, end));
    return text.size() > kLongest ? result + "..." : result;
}

}  // namespace tessera
