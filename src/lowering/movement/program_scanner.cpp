#include "lowering/movement/program_scanner.h"

#include <algorithm>
#include <charconv>

#include "support/error.h"

namespace tessera::movement {
namespace {

constexpr size_t kLongestText = size_t{1} << 28;
constexpr size_t kLongestShown = 40;

// Independent of the locale.
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr std::string_view kPairs[] = {"..", "+=", "*=", "<=", ">=", "==", "!="};

}  // namespace

ProgramScanner::ProgramScanner(std::string_view text, std::string where)
    : text_(text), where_(std::move(where)) {
    if (text.size() > kLongestText)
        throw Error(where_, {}, fmt::format("has {} bytes, a program at most {}", text.size(), kLongestText));
    for (ProgramToken& token : ahead_) token = scan();
}

std::string ProgramScanner::place() const {
    return fmt::format("{}:{}", where_, peek().line);
}

void ProgramScanner::fail(const std::string& entity, const std::string& problem) const {
    throw Error(place(), entity, problem);
}

void ProgramScanner::fail_expecting(std::string_view expected) const {
    const std::string found =
        at_end() ? "the end" : fmt::format("`{}`", peek().text.substr(0, kLongestShown));
    fail({}, fmt::format("found {}, expected {}", found, expected));
}

ProgramToken ProgramScanner::scan() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) line_ += text_[at_++] == '\n';
    ProgramToken token{ProgramToken::Kind::kEnd, {}, line_};
    if (at_ == text_.size()) return token;
    const auto is_at = [&](size_t i, auto matches) { return i < text_.size() && matches(text_[i]); };
    size_t end = at_ + 1;
    const auto skip_digits = [&] {
        while (is_at(end, is_digit)) ++end;
    };
    if (begins_name(text_[at_])) {
        token.kind = ProgramToken::Kind::kName;
        while (is_at(end, [](char c) { return begins_name(c) || is_digit(c) || c == '.'; })) ++end;
    } else if (is_digit(text_[at_])) {
        token.kind = ProgramToken::Kind::kInteger;
        skip_digits();
        if (is_at(end, [](char c) { return c == '.'; }) && is_at(end + 1, is_digit)) {
            token.kind = ProgramToken::Kind::kReal;
            ++end;
            skip_digits();
        }
        if (is_at(end, [](char c) { return c == 'e'; })) {
            token.kind = ProgramToken::Kind::kReal;
            ++end;
            if (is_at(end, [](char c) { return c == '-' || c == '+'; })) ++end;
            skip_digits();
        }
    } else if (text_[at_] == '"') {
        token.kind = ProgramToken::Kind::kString;
        while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
            end += text_[end] == '\\' ? 2 : 1;
        if (end >= text_.size() || text_[end] != '"')
            throw Error(fmt::format("{}:{}", where_, line_), {}, "a name in quotes does not end");
        ++end;
    } else {
        token.kind = ProgramToken::Kind::kSymbol;
        if (std::find(std::begin(kPairs), std::end(kPairs), text_.substr(at_, 2)) != std::end(kPairs)) ++end;
    }
    token.text = text_.substr(at_, end - at_);
    at_ = end;
    return token;
}

bool ProgramScanner::at(std::string_view text, int ahead) const {
    const ProgramToken& token = peek(ahead);
    return token.text == text && token.kind != ProgramToken::Kind::kEnd &&
           token.kind != ProgramToken::Kind::kString;
}

ProgramToken ProgramScanner::next() {
    const ProgramToken token = ahead_[0];
    std::copy(ahead_.begin() + 1, ahead_.end(), ahead_.begin());
    ahead_.back() = scan();
    return token;
}

bool ProgramScanner::take(std::string_view text) {
    if (!at(text)) return false;
    next();
    return true;
}

void ProgramScanner::expect(std::string_view text) {
    if (!take(text)) fail_expecting(fmt::format("`{}`", text));
}

std::string ProgramScanner::name(std::string_view what) {
    if (peek().kind != ProgramToken::Kind::kName) fail_expecting(what);
    return std::string(next().text);
}

std::string ProgramScanner::quoted(std::string_view what) {
    if (peek().kind != ProgramToken::Kind::kString) fail_expecting(what);
    const std::string_view text = peek().text.substr(1, peek().text.size() - 2);
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        ++i;  // the scanner saw to it that something follows
        if (text[i] == '"' || text[i] == '\\') {
            out += text[i];
            continue;
        }
        unsigned char code = 0;
        const std::string_view digits = text[i] == 'x' ? text.substr(i + 1, 2) : std::string_view{};
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
            fail({}, "has a backslash in front of what is neither a quote, a backslash nor xNN");
        out += static_cast<char>(code);
        i += 2;
    }
    next();
    return out;
}

int64_t ProgramScanner::integer(std::string_view what, int64_t low, int64_t high) {
    const bool is_negative = take("-");
    if (peek().kind != ProgramToken::Kind::kInteger) fail_expecting(what);
    int64_t value = 0;
    const std::string_view text = peek().text;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc() && is_negative) value = -value;
    if (result.ec != std::errc() || value < low || value > high)
        fail(std::string(text.substr(0, kLongestShown)),
             fmt::format("is out of range, {} is from {} to {}", what, low, high));
    next();
    return value;
}

}  // namespace tessera::movement
