#include "run/llm/base64.h"

#include <cstdint>

namespace tessera::llm {
namespace {

int value_of_digit(char digit) {
    if (digit >= 'A' && digit <= 'Z') return digit - 'A';
    if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9') return digit - '0' + 52;
    if (digit == '+') return 62;
    return digit == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
    text.remove_suffix(padding);
    std::string bytes;
    uint32_t bits = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const int value = value_of_digit(text[i]);
        if (value < 0) return std::nullopt;
        bits = bits << 6 | static_cast<uint32_t>(value);
        // Bits that do not fill a byte yet wait for the next digit.
        if (i % 4 != 0) bytes += static_cast<char>(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    // The only valid spelling has zeros for the bits of the last digit that belong to no byte.
    const uint32_t left_over = padding == 0 ? 0 : bits & (padding == 1 ? 0x3 : 0xf);
    return left_over == 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace tessera::llm
