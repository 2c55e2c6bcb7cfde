#include "run/llm/utf8.h"

#include <utf8proc.h>

namespace tessera::llm {
namespace {

constexpr char32_t kReplacement = 0xfffd;

/// Length of a sequence by its first byte, and the smallest code point that needs so many bytes.
struct Lead {
    uint32_t length = 0;
    char32_t bits = 0;
    char32_t least = 0;
};

Lead lead_of(uint8_t byte) {
    if (byte < 0x80) return {1, byte, 0};
    if ((byte & 0xe0u) == 0xc0) return {2, byte & 0x1fu, 0x80};
    if ((byte & 0xf0u) == 0xe0) return {3, byte & 0x0fu, 0x800};
    if ((byte & 0xf8u) == 0xf0) return {4, byte & 0x07u, 0x10000};
    return {};
}

bool between(char32_t value, char32_t low, char32_t high) {
    return value >= low && value <= high;
}

}  // namespace

Utf8Step first_character(std::string_view text) {
    constexpr Utf8Step kMalformed{kReplacement, 1, false};
    const Lead lead = lead_of(static_cast<uint8_t>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) return kMalformed;
    char32_t code_point = lead.bits;
    for (uint32_t i = 1; i < lead.length; ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        if ((byte & 0xc0u) != 0x80) return kMalformed;
        code_point = (code_point << 6) | (byte & 0x3fu);
    }
    if (code_point < lead.least || code_point > 0x10ffff || between(code_point, 0xd800, 0xdfff))
        return kMalformed;
    return {code_point, lead.length, true};
}

Utf8Run first_run(std::string_view text) {
    const bool valid = first_character(text).valid;
    size_t end = 0;
    while (end < text.size()) {
        const Utf8Step step = first_character(text.substr(end));
        if (step.valid != valid) break;
        end += step.length;
    }
    return {text.substr(0, end), valid};
}

void append_utf8(std::string& out, char32_t code_point) {
    const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xc0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3f));
    } else if (code_point < 0x10000) {
        put(0xe0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    } else {
        put(0xf0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3f));
        put(0x80 | ((code_point >> 6) & 0x3f));
        put(0x80 | (code_point & 0x3f));
    }
}

bool is_white_space(char32_t c) {
    return between(c, 0x9, 0xd) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           between(c, 0x2000, 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

bool is_word_character(char32_t c) {
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC:
            return true;
        default:
            break;
    }
    // Join controls, and the circled and squared letters: alphabetic, but symbols by category.
    return c == 0x200c || c == 0x200d || between(c, 0x24b6, 0x24e9) || between(c, 0x1f130, 0x1f149) ||
           between(c, 0x1f150, 0x1f169) || between(c, 0x1f170, 0x1f189);
}

}  // namespace tessera::llm
