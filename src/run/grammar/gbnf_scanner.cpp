#include "run/grammar/gbnf_scanner.h"

#include <algorithm>

#include "run/grammar/character_ranges.h"
#include "support/error.h"

namespace tessera::grammar {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '_';
}

int hexadecimal(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

bool GbnfScanner::take(std::string_view what) {
    if (!sees(what)) return false;
    at_ += what.size();
    return true;
}

void GbnfScanner::expect(std::string_view what, std::string_view purpose) {
    if (!take(what)) fail(at_, fmt::format("expected `{}` {}, found {}", what, purpose, shown_here()));
}

void GbnfScanner::skip_blanks(bool lines) {
    while (!at_end()) {
        const char c = peek();
        if (c == '#')
            at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
        else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r')))
            ++at_;
        else
            return;
    }
}

void GbnfScanner::skip_to_bar() {
    const size_t before = at_;
    skip_blanks(true);
    if (peek() != '|') at_ = before;
}

bool GbnfScanner::sees_name() const {
    return is_of_name(peek());
}

std::string GbnfScanner::name() {
    const size_t begin = at_;
    while (is_of_name(peek())) ++at_;
    if (at_ == begin) fail(at_, fmt::format("expected the name of a rule, found {}", shown_here()));
    return std::string(text_.substr(begin, at_ - begin));
}

long long GbnfScanner::number(long long most) {
    const size_t begin = at_;
    long long value = 0;
    for (; is_digit(peek()); ++at_) {
        value = value * 10 + (peek() - '0');
        if (value > most) fail(begin, fmt::format("the number is larger than {}", most));
    }
    if (at_ == begin) fail(at_, fmt::format("expected a number, found {}", shown_here()));
    return value;
}

char32_t GbnfScanner::character(char closing) {
    if (at_end() || peek() == '\n' || peek() == '\r')
        fail(at_, fmt::format("expected `{}` on the same line", closing),
             "a line break inside of it is written \\n");
    return peek() == '\\' ? escape() : utf8_character();
}

char32_t GbnfScanner::escape() {
    const size_t begin = at_++;
    const char kind = peek();
    if (!at_end()) ++at_;
    switch (kind) {
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case '\\':
        case '"':
        case '[':
        case ']':
        case '-':
        case '^':
            return static_cast<unsigned char>(kind);
        default:
            break;
    }
    const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0)
        fail(begin, "is no known escape", R"(these are: \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH)");
    char32_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
        const int digit = hexadecimal(peek());
        if (digit < 0) fail(begin, fmt::format("expected {} hexadecimal digits after \\{}", digits, kind));
        value = value * 16 + static_cast<char32_t>(digit);
    }
    if (value > kLargestCodePoint || (value >= 0xd800 && value <= 0xdfff))
        fail(begin, fmt::format("U+{:04X} is no character", static_cast<uint32_t>(value)));
    return value;
}

char32_t GbnfScanner::utf8_character() {
    const auto lead = static_cast<unsigned char>(peek());
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const std::string_view bytes = text_.substr(at_, length);
    char32_t value = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t i = 1; i < bytes.size(); ++i)
        value = (value << 6) | (static_cast<unsigned char>(bytes[i]) & 0x3f);
    // Bytes that are not UTF-8 come out otherwise than they were read.
    std::string again;
    if (value <= kLargestCodePoint) append_utf8(again, value);
    if (again != bytes || (value >= 0xd800 && value <= 0xdfff)) fail(at_, "is not UTF-8");
    at_ += length;
    return value;
}

std::string GbnfScanner::place(size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const auto row = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t line = before.rfind('\n') + 1;
    return fmt::format("{}:{}:{}", where_, row, offset - line + 1);
}

void GbnfScanner::fail(size_t offset, std::string problem, std::string advice) const {
    throw Error(place(offset), "", std::move(problem), std::move(advice));
}

std::string GbnfScanner::shown_here() const {
    if (at_end()) return "the end";
    const char c = peek();
    if (c == '\n' || c == '\r') return "the end of the line";
    if (c > ' ' && c < 0x7f) return fmt::format("`{}`", c);
    return fmt::format("the byte {:02X}", static_cast<unsigned char>(c));
}

}  // namespace tessera::grammar
