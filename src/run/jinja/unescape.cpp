#include <fmt/format.h>
#include <utf8proc.h>

#include "run/jinja/lexer.h"

namespace tessera::jinja {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Letters whose escapes stand for one character.
constexpr std::string_view kEscapes = "\\'\"abfnrtv";
constexpr std::string_view kEscaped = "\\'\"\a\b\f\n\r\t\v";

}  // namespace

std::string unescape(std::string_view quoted, const std::string& where, Position position) {
    std::string text;
    const auto append = [&](int64_t code_point) {
        if (!utf8proc_codepoint_valid(static_cast<utf8proc_int32_t>(code_point)))
            fail_at(where, position,
                    fmt::format("the text has an escape for U+{:04X}, which is no character", code_point));
        utf8proc_uint8_t bytes[4];
        const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
        text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    };
    for (size_t at = 0; at < quoted.size(); ++at) {
        if (quoted[at] != '\\' || at + 1 == quoted.size()) {
            text += quoted[at];
            continue;
        }
        const char kind = quoted[++at];
        if (const size_t simple = kEscapes.find(kind); simple != std::string_view::npos) {
            text += kEscaped[simple];
        } else if (kind == '\n') {
            // A line break that is escaped is none.
        } else if (kind >= '0' && kind <= '7') {
            int64_t code_point = 0;
            size_t digits = 0;
            for (; digits < 3 && at + digits < quoted.size(); ++digits) {
                const char digit = quoted[at + digits];
                if (digit < '0' || digit > '7') break;
                code_point = code_point * 8 + (digit - '0');
            }
            at += digits - 1;
            append(code_point);
        } else if (kind == 'x' || kind == 'u' || kind == 'U') {
            const size_t wanted = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
            int64_t code_point = 0;
            for (size_t i = 1; i <= wanted; ++i) {
                const int digit = at + i < quoted.size() ? hex_digit(quoted[at + i]) : -1;
                if (digit < 0)
                    fail_at(where, position,
                            fmt::format("the escape \\{} needs {} hexadecimal digits", kind, wanted));
                code_point = code_point * 16 + digit;
            }
            at += wanted;
            append(code_point > 0x10ffff ? 0xd800 : code_point);
        } else if (kind == 'N') {
            fail_at(where, position, "the escape \\N{...} is not supported", "write \\u or \\U");
        } else {
            text += '\\';
            text += kind;
        }
    }
    return text;
}

}  // namespace tessera::jinja
