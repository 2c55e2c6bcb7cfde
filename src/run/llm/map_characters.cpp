#include "run/llm/map_characters.h"

#include <algorithm>
#include <array>

#include <utf8proc.h>

#include "run/llm/utf8.h"

namespace tessera::llm {
namespace {

struct CodeRange {
    char32_t first;
    char32_t last;
};

// The ideographs of BERT's tokenizer, as `tokenizers` spells the ranges: U+2B820 to U+2B91F are not among
// them.
constexpr std::array kIdeographs = {CodeRange{0x3400, 0x4dbf},   CodeRange{0x4e00, 0x9fff},
                                    CodeRange{0xf900, 0xfaff},   CodeRange{0x20000, 0x2a6df},
                                    CodeRange{0x2a700, 0x2b73f}, CodeRange{0x2b740, 0x2b81f},
                                    CodeRange{0x2b920, 0x2ceaf}, CodeRange{0x2f800, 0x2fa1f}};
constexpr std::array kRemovedByNmt = {CodeRange{0x1, 0x8},   CodeRange{0xb, 0xb},   CodeRange{0xe, 0x1f},
                                      CodeRange{0x7f, 0x7f}, CodeRange{0x8f, 0x8f}, CodeRange{0x9f, 0x9f}};
constexpr std::array kSpacesOfNmt = {CodeRange{0x9, 0xa},       CodeRange{0xc, 0xd},
                                     CodeRange{0x1680, 0x1680}, CodeRange{0x200b, 0x200f},
                                     CodeRange{0x2028, 0x2029}, CodeRange{0x2581, 0x2581},
                                     CodeRange{0xfeff, 0xfeff}, CodeRange{0xfffd, 0xfffd}};

template <size_t n>
bool is_in(const std::array<CodeRange, n>& ranges, char32_t character) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const CodeRange& range) {
        return character >= range.first && character <= range.last;
    });
}

utf8proc_category_t category_of(char32_t character) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

/// Calls `write(out, character, spelling)` for every character.
template <typename Write>
std::string for_each_character(std::string_view text, Write write) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = first_character(text);
        write(out, step.code_point, text.substr(0, step.length));
        text.remove_prefix(step.length);
    }
    return out;
}

/// Characters without meaning for a reader. Unassigned ones stay: they may be younger than the table.
bool is_control(char32_t character) {
    if (character == 0xfffd) return true;
    const utf8proc_category_t category = category_of(character);
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_CO;
}

}  // namespace

std::string clean_text(std::string_view text) {
    return for_each_character(text, [](std::string& out, char32_t character, std::string_view spelling) {
        if (character == '\t' || character == '\n' || character == '\r')
            out += ' ';
        else if (!is_control(character))
            out += is_white_space(character) ? " " : spelling;
    });
}

std::string surround_ideographs(std::string_view text) {
    return for_each_character(text, [](std::string& out, char32_t character, std::string_view spelling) {
        const bool surrounded = is_in(kIdeographs, character);
        if (surrounded) out += ' ';
        out += spelling;
        if (surrounded) out += ' ';
    });
}

std::string remove_marks(std::string_view text, bool only_nonspacing) {
    return for_each_character(text, [&](std::string& out, char32_t character, std::string_view spelling) {
        const utf8proc_category_t category = category_of(character);
        const bool other_mark = category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
        if (category == UTF8PROC_CATEGORY_MN || (other_mark && !only_nonspacing)) return;
        out += spelling;
    });
}

std::string apply_nmt_rules(std::string_view text) {
    return for_each_character(text, [](std::string& out, char32_t character, std::string_view spelling) {
        if (is_in(kRemovedByNmt, character)) return;
        out += is_in(kSpacesOfNmt, character) ? " " : spelling;
    });
}

bool is_punctuation(char32_t character) {
    if (character < 0x80)
        return (character > 0x20 && character < '0') || (character > '9' && character < 'A') ||
               (character > 'Z' && character < 'a') || (character > 'z' && character < 0x7f);
    switch (category_of(character)) {
        case UTF8PROC_CATEGORY_PC:
        case UTF8PROC_CATEGORY_PD:
        case UTF8PROC_CATEGORY_PS:
        case UTF8PROC_CATEGORY_PE:
        case UTF8PROC_CATEGORY_PI:
        case UTF8PROC_CATEGORY_PF:
        case UTF8PROC_CATEGORY_PO:
            return true;
        default:
            return false;
    }
}

}  // namespace tessera::llm
