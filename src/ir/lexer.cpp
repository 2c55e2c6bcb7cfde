#include "ir/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ir/characters.h"
#include "ir/element_type.h"
#include "support/error.h"

namespace tessera {
namespace {

// `at`, `carry` and `multiple` mean something in one place only, where no name may stand.
// Nor are functions of 64 bits reserved, `cos` and so on: they are names where no parenthesis follows.
constexpr std::array<std::string_view, 36> kReserved = {
    "abs",         "acc",   "and", "bind",  "dim",  "div",   "erf",   "exp",    "fill",
    "in",          "index", "inf", "lanes", "log",  "max",   "min",   "mod",    "not",
    "of",          "op",    "or",  "out",   "prod", "round", "rsqrt", "select", "sigmoid",
    "softmax_sum", "sqrt",  "sum", "tanh",  "test", "tile",  "unit",  "update", "where"};

// Longest first, so that `<=` is not read as `<` and `=`.
constexpr std::array<std::string_view, 18> kSymbols = {"..", "<=", ">=", "==", "!=", "(", ")", "[", "]",
                                                       ",",  ":",  "*",  "=",  "+",  "-", "/", "<", ">"};

std::string printable(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return 0x20 <= byte && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
}

class Scanner {
public:
    Scanner(std::string_view line, const std::string& where) : line_(line), where_(where) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        while (skip_blanks()) tokens.push_back(one());
        tokens.push_back(Token{});
        return tokens;
    }

private:
    char at(size_t offset) const { return offset < line_.size() ? line_[offset] : '\0'; }

    bool skip_blanks() {
        while (position_ < line_.size() && (line_[position_] == ' ' || line_[position_] == '\t')) ++position_;
        return position_ < line_.size() && line_[position_] != '#';
    }

    Token one() {
        const char c = at(position_);
        if (starts_name(c)) return name();
        if (is_digit(c) || (c == '.' && is_digit(at(position_ + 1)))) return literal();
        for (std::string_view symbol : kSymbols) {
            if (line_.substr(position_).starts_with(symbol)) return take(Token::Kind::kSymbol, symbol.size());
        }
        throw Error(where_, "",
                    fmt::format("found the character `{}`, which the notation does not use", printable(c)));
    }

    Token take(Token::Kind kind, size_t length) {
        Token token{kind, line_.substr(position_, length)};
        position_ += length;
        return token;
    }

    Token name() {
        size_t end = position_;
        while (continues_name(at(end))) ++end;
        return take(Token::Kind::kName, end - position_);
    }

    Token literal() {
        size_t end = position_;
        bool is_integer = true;
        while (is_digit(at(end))) ++end;
        // `1..64` is a range, not the number `1.`
        if (at(end) == '.' && at(end + 1) != '.') {
            is_integer = false;
            ++end;
            while (is_digit(at(end))) ++end;
        }
        const bool is_signed = at(end + 1) == '+' || at(end + 1) == '-';
        if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(end + (is_signed ? 2 : 1)))) {
            is_integer = false;
            end += is_signed ? 2 : 1;
            while (is_digit(at(end))) ++end;
        }
        if (continues_name(at(end))) {
            while (continues_name(at(end))) ++end;
            throw Error(where_, "",
                        fmt::format("found `{}`, which is neither a number nor a name", text_to(end)));
        }
        Token token = take(is_integer ? Token::Kind::kInteger : Token::Kind::kReal, end - position_);
        is_integer ? read_integer(token) : read_real(token);
        return token;
    }

    std::string_view text_to(size_t end) const { return line_.substr(position_, end - position_); }

    void read_integer(Token& token) const {
        const std::string_view text = token.text;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), token.integer);
        if (status != std::errc() || token.integer > kLargestInteger) {
            throw Error(
                where_, "",
                fmt::format("the integer `{}` is too large, expected at most {}", text, kLargestInteger));
        }
        if (text.size() > 1 && text[0] == '0') {
            throw Error(
                where_, "",
                fmt::format("the integer `{}` has a leading zero, expected `{}`", text, token.integer));
        }
    }

    void read_real(Token& token) const {
        const std::string_view text = token.text;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), token.real);
        if (status != std::errc()) {
            throw Error(where_, "", fmt::format("the number `{}` does not fit float64", text));
        }
    }

    std::string_view line_;
    const std::string& where_;
    size_t position_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view line, const std::string& where) {
    return Scanner(line, where).run();
}

bool is_reserved(std::string_view word) {
    return std::ranges::find(kReserved, word) != kReserved.end() || element_type_of(word).has_value();
}

TokenStream::TokenStream(std::vector<Token> tokens, std::string where)
    : tokens_(std::move(tokens)), where_(std::move(where)) {
    TESSERA_CHECK(!tokens_.empty() && tokens_.back().kind == Token::Kind::kEnd);
}

const Token& TokenStream::peek(int ahead) const {
    return tokens_[std::min(static_cast<size_t>(position_ + ahead), tokens_.size() - 1)];
}

bool TokenStream::at(std::string_view text) const {
    return !at_end() && peek().text == text;
}

Token TokenStream::next() {
    const Token token = peek();
    if (!at_end()) ++position_;
    return token;
}

bool TokenStream::accept(std::string_view text) {
    if (!at(text)) return false;
    next();
    return true;
}

void TokenStream::expect(std::string_view text, std::string_view context) {
    if (!accept(text)) fail_expecting(fmt::format("`{}` {}", text, context));
}

std::string TokenStream::expect_name(std::string_view what) {
    if (peek().kind != Token::Kind::kName) fail_expecting(fmt::format("{}", what));
    return std::string(next().text);
}

std::string TokenStream::expect_new_name(std::string_view what) {
    if (peek().kind == Token::Kind::kName && is_reserved(peek().text)) {
        fail(std::string(peek().text), fmt::format("is a keyword, function or type and cannot be {}", what),
             "choose another name");
    }
    return expect_name(what);
}

int64_t TokenStream::expect_integer(std::string_view what) {
    if (peek().kind != Token::Kind::kInteger)
        fail_expecting(fmt::format("{} (a non-negative integer)", what));
    return next().integer;
}

void TokenStream::expect_end(std::string_view after) {
    if (!at_end()) fail_expecting(fmt::format("the end of the line after {}", after));
}

void TokenStream::fail_expecting(std::string_view expected) const {
    const std::string found = at_end() ? "the line ends" : fmt::format("found `{}`", peek().text);
    throw Error(where_, "", fmt::format("{}, expected {}", found, expected));
}

void TokenStream::fail(const std::string& entity, const std::string& problem,
                       const std::string& advice) const {
    throw Error(where_, entity, problem, advice);
}

}  // namespace tessera
