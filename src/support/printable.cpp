#include "support/printable.h"

#include <cstdint>

#include <fmt/core.h>

namespace tessera {
namespace {

uint32_t byte_at(std::string_view text, size_t at) {
    return static_cast<unsigned char>(text[at]);
}

/// Bytes of the character of UTF-8 that `text` begins with (Unicode 15, table 3-7); 0: it begins with none.
size_t character_length(std::string_view text) {
    const uint32_t first = byte_at(text, 0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < length) return 0;
    const uint32_t second = byte_at(text, 1);
    const uint32_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const uint32_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (second < low || second > high) return 0;
    for (size_t i = 2; i < length; ++i)
        if ((byte_at(text, i) & 0xC0U) != 0x80) return 0;
    return length;
}

/// C0, DEL and C1.
bool is_control(std::string_view character) {
    const uint32_t first = byte_at(character, 0);
    return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

template <class Other>
std::string replaced(std::string_view text, bool is_one_line, const Other& other) {
    std::string result;
    while (!text.empty()) {
        const size_t length = character_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        const bool stays = !is_one_line && (character == "\n" || character == "\t");
        if (length == 0 || (is_control(character) && !stays))
            result += other(character, length != 0);
        else
            result += character;
        text.remove_prefix(character.size());
    }
    return result;
}

std::string escape(std::string_view bytes) {
    if (bytes == "\n") return "\\n";
    std::string text;
    for (size_t i = 0; i < bytes.size(); ++i) text += fmt::format("\\x{:02x}", byte_at(bytes, i));
    return text;
}

}  // namespace

std::string printable(std::string_view text) {
    return replaced(text, true, [](std::string_view bytes, bool) { return escape(bytes); });
}

std::string printable_lines(std::string_view text) {
    return replaced(text, false, [](std::string_view bytes, bool) { return escape(bytes); });
}

std::string valid_utf8(std::string_view text) {
    return replaced(text, true, [](std::string_view bytes, bool is_character) {
        return is_character ? std::string(bytes) : std::string("\uFFFD");
    });
}

}  // namespace tessera
