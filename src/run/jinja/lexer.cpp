#include "run/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <utf8proc.h>

#include "run/jinja/text.h"

// Data runs up to the next `{{`, `{%` or `{#`. A tag decides about the white space on both of its sides:
//
//     "  {%- if a +%}\n b"
//       ^^ removed: `-`, or lstrip_blocks where the tag begins its line (`+` keeps it)
//                    ^^ kept: `+`; otherwise trim_blocks removes one line break, and `-` all white space
//
// Source: the lexer of Jinja2 3.1, from which the order of these rules is taken.

namespace tessera::jinja {
namespace {

constexpr size_t kLongestSource = size_t{1} << 22;
// The longest ones first.
constexpr std::array<std::string_view, 25> kOperators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                         "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                         ">",  "<",  "=",  ".",  ":",  "|",  ","};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Line breaks of other systems become line feeds; one at the end of the file is no part of the template.
std::string normalized(std::string_view source) {
    std::string text;
    text.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] != '\r') {
            text += source[i];
            continue;
        }
        text += '\n';
        if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

bool may_be_in_name(int code_point, bool first) {
    if (code_point < 0) return false;
    if (code_point < 0x80)
        return std::isalpha(code_point) != 0 || code_point == '_' ||
               (!first && std::isdigit(code_point) != 0);
    const auto category = utf8proc_category(code_point);
    const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    const bool is_mark = category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
                         category == UTF8PROC_CATEGORY_ND;
    return is_letter || (!first && is_mark);
}

class Lexer {
public:
    Lexer(std::string source, const std::string& where) : source_(std::move(source)), where_(where) {}

    std::vector<Token> run() {
        while (at_ < source_.size()) data();
        tokens_.push_back({.kind = TokenKind::kEnd, .position = place(at_)});
        return std::move(tokens_);
    }

private:
    std::string_view rest() const { return std::string_view(source_).substr(at_); }
    bool ahead(std::string_view text) const { return rest().starts_with(text); }

    /// Positions are asked for in ascending order, mostly.
    Position place(size_t at) {
        if (at < counted_) counted_ = line_ = 0, row_ = 1;
        for (; counted_ < at; ++counted_)
            if (source_[counted_] == '\n') ++row_, line_ = counted_ + 1;
        return {row_, static_cast<int>(at - line_) + 1};
    }
    [[noreturn]] void fail(size_t at, std::string problem, std::string advice = {}) {
        fail_at(where_, place(at), std::move(problem), std::move(advice));
    }

    /// Data up to a tag, and the tag.
    void data() {
        const size_t begin = at_;
        size_t open = begin;
        while (true) {
            open = source_.find('{', open);
            if (open == std::string::npos || open + 1 >= source_.size()) return rest_is_data(begin);
            const char kind = source_[open + 1];
            if (kind == '{' || kind == '%' || kind == '#') break;
            ++open;
        }
        const char kind = source_[open + 1];
        at_ = open + 2;
        const char sign =
            at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+') ? source_[at_] : ' ';
        if (sign != ' ') ++at_;
        std::string_view text = std::string_view(source_).substr(begin, open - begin);
        if (sign == '-')
            text = trim_right(text);
        else if (sign != '+' && kind != '{')
            text = without_indent(text);
        add_data(text, begin);
        if (kind == '#') return comment(open);
        if (kind == '%' && raw(open)) return;
        tag(open, kind == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin);
    }

    void rest_is_data(size_t begin) {
        at_ = source_.size();
        add_data(std::string_view(source_).substr(begin), begin);
    }
    void add_data(std::string_view text, size_t begin) {
        if (!text.empty())
            tokens_.push_back(
                {.kind = TokenKind::kData, .text = std::string(text), .position = place(begin)});
    }

    /// lstrip_blocks: white space alone between the beginning of the line and the tag.
    std::string_view without_indent(std::string_view text) const {
        const size_t line = text.rfind('\n') + 1;
        if (line == 0 && !starts_line_) return text;
        return trim_left(text.substr(line)).empty() ? text.substr(0, line) : text;
    }

    /// After the end of a tag, whose sign was before it.
    void finish_tag(char sign, bool trims_line) {
        const size_t before = at_;
        if (sign == '-')
            at_ = source_.size() - trim_left(rest()).size();
        else if (trims_line && sign != '+' && ahead("\n"))
            ++at_;
        starts_line_ = at_ > before && source_[at_ - 1] == '\n';
    }

    void comment(size_t open) {
        const size_t close = source_.find("#}", at_);
        if (close == std::string::npos) fail(open, "the comment has no end", "#} ends it");
        const char sign = close > at_ && (source_[close - 1] == '-' || source_[close - 1] == '+')
                              ? source_[close - 1]
                              : ' ';
        at_ = close + 2;
        finish_tag(sign, true);
    }

    void skip_space() { at_ = source_.size() - trim_left(rest()).size(); }

    /// A raw block, of which only the data is left; false for other blocks.
    bool raw(size_t open) {
        const size_t before = at_;
        skip_space();
        if (!ahead("raw")) return at_ = before, false;
        at_ += 3;
        skip_space();
        char sign = ' ';
        if (ahead("-%}")) sign = '-', ++at_;
        if (!ahead("%}")) return at_ = before, false;
        at_ += 2;
        finish_tag(sign, false);
        const size_t begin = at_;
        for (size_t end = source_.find("{%", at_); end != std::string::npos;
             end = source_.find("{%", end + 1)) {
            at_ = end + 2;
            const char left = ahead("-") || ahead("+") ? source_[at_++] : ' ';
            skip_space();
            if (!ahead("endraw")) continue;
            at_ += 6;
            skip_space();
            const char right = ahead("-%}") || ahead("+%}") ? source_[at_++] : ' ';
            if (!ahead("%}")) continue;
            at_ += 2;
            std::string_view text = std::string_view(source_).substr(begin, end - begin);
            if (left == '-')
                text = trim_right(text);
            else if (left != '+')
                text = without_indent(text);
            add_data(text, begin);
            finish_tag(right, true);
            return true;
        }
        fail(open, "the raw block has no end", "{% endraw %} ends it");
    }

    void tag(size_t open, TokenKind begin) {
        const bool is_block = begin == TokenKind::kBlockBegin;
        const std::string_view close = is_block ? "%}" : "}}";
        tokens_.push_back({.kind = begin, .text = is_block ? "{%" : "{{", .position = place(open)});
        std::string brackets;
        while (true) {
            skip_space();
            if (at_ >= source_.size())
                fail(open, is_block ? "the block has no end" : "the expression has no end",
                     fmt::format("{} ends it", close));
            const char sign = ahead("-") || (is_block && ahead("+")) ? source_[at_] : ' ';
            const bool ends =
                brackets.empty() && (sign == ' ' ? ahead(close) : rest().substr(1).starts_with(close));
            if (ends) {
                tokens_.push_back({.kind = is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd,
                                   .text = std::string(close),
                                   .position = place(at_)});
                at_ += (sign == ' ' ? 0 : 1) + close.size();
                return finish_tag(sign, is_block);
            }
            token(brackets);
        }
    }

    void token(std::string& brackets) {
        const char c = source_[at_];
        if (c == '\'' || c == '"') return string(c);
        if (is_digit(c)) return number();
        if (const Character first = first_character(rest()); may_be_in_name(first.code_point, true))
            return name();
        for (const std::string_view known : kOperators) {
            if (!ahead(known)) continue;
            if (known == "(" || known == "[" || known == "{") brackets += known;
            if (known == ")" || known == "]" || known == "}") {
                const char opening = known == ")" ? '(' : known == "]" ? '[' : '{';
                if (brackets.empty() || brackets.back() != opening)
                    fail(at_, fmt::format("\"{}\" closes nothing", known));
                brackets.pop_back();
            }
            tokens_.push_back(
                {.kind = TokenKind::kOperator, .text = std::string(known), .position = place(at_)});
            at_ += known.size();
            return;
        }
        fail(at_,
             fmt::format("\"{}\" is not expected in a tag", rest().substr(0, first_character(rest()).size)));
    }

    void string(char quote) {
        const size_t begin = at_;
        size_t end = at_ + 1;
        while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
        if (end >= source_.size()) fail(begin, "the text has no closing quote");
        tokens_.push_back({.kind = TokenKind::kString,
                           .text = unescape(std::string_view(source_).substr(begin + 1, end - begin - 1),
                                            where_, place(begin)),
                           .position = place(begin)});
        at_ = end + 1;
    }

    void name() {
        const size_t begin = at_;
        while (at_ < source_.size()) {
            const Character next = first_character(rest());
            if (!may_be_in_name(next.code_point, at_ == begin)) break;
            at_ += next.size;
        }
        tokens_.push_back(
            {.kind = TokenKind::kName, .text = source_.substr(begin, at_ - begin), .position = place(begin)});
    }

    /// Digits, of which single underscores may be between.
    std::string digits(int base) {
        std::string found;
        const auto is_one = [&](size_t at) {
            if (at >= source_.size()) return false;
            const char c = source_[at];
            return base == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0
                              : c >= '0' && c < '0' + base;
        };
        while (is_one(at_) || (ahead("_") && is_one(at_ + 1))) {
            if (source_[at_] != '_') found += source_[at_];
            ++at_;
        }
        return found;
    }

    void number() {
        const size_t begin = at_;
        int base = 10;
        for (const auto& [prefix, its_base] :
             {std::pair{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}})
            if (ahead(prefix)) base = its_base;
        if (base != 10) at_ += 2;
        std::string text = digits(base);
        bool is_real = false;
        if (base == 10) {
            if (ahead(".") && at_ + 1 < source_.size() && is_digit(source_[at_ + 1])) {
                is_real = true;
                ++at_;
                text += "." + digits(10);
            }
            const size_t mark = at_;
            if (ahead("e") || ahead("E")) {
                ++at_;
                std::string exponent = "e";
                if (ahead("+") || ahead("-")) exponent += source_[at_++];
                const std::string power = digits(10);
                if (power.empty())
                    at_ = mark;
                else
                    is_real = true, text += exponent + power;
            }
        }
        Token token{.kind = is_real ? TokenKind::kFloat : TokenKind::kInteger,
                    .text = text,
                    .position = place(begin)};
        const char* end = text.data() + text.size();
        const auto result = is_real ? std::from_chars(text.data(), end, token.real)
                                    : std::from_chars(text.data(), end, token.integer, base);
        if (text.empty() || result.ec != std::errc() || result.ptr != end)
            fail(begin, fmt::format("\"{}\" is no number of 64 bits", source_.substr(begin, at_ - begin)));
        if (!is_real && base == 10 && text.size() > 1 && text.front() == '0' && token.integer != 0)
            fail(begin, fmt::format("\"{}\" begins with a zero", text));
        tokens_.push_back(std::move(token));
    }

    const std::string source_;
    const std::string& where_;
    std::vector<Token> tokens_;
    size_t at_ = 0;
    bool starts_line_ = true;
    size_t counted_ = 0;  // up to here lines are counted
    size_t line_ = 0;     // where the last of them begins
    int row_ = 1;
};

}  // namespace

std::vector<Token> lex(std::string_view source, const std::string& where) {
    if (source.size() > kLongestSource)
        fail_at(
            where, {},
            fmt::format("the template has {} bytes, at most {} are possible", source.size(), kLongestSource));
    return Lexer(normalized(source), where).run();
}

}  // namespace tessera::jinja
