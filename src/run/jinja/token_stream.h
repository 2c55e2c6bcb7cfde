#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "run/jinja/lexer.h"

namespace tessera::jinja {

/// The tokens of a template from front to back.
class TokenStream {
public:
    TokenStream(std::vector<Token> tokens, const std::string& where)
        : tokens_(std::move(tokens)), where_(where) {}

    const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    const Token& take() {
        const Token& token = peek();
        if (at_ + 1 < tokens_.size()) ++at_;
        return token;
    }
    bool at_operator(std::string_view text) const { return peek().is(TokenKind::kOperator, text); }
    bool at_name(std::string_view text) const { return peek().is(TokenKind::kName, text); }
    bool skip_operator(std::string_view text) { return at_operator(text) && (take(), true); }
    bool skip_name(std::string_view text) { return at_name(text) && (take(), true); }
    void expect_operator(std::string_view text) {
        if (!skip_operator(text)) fail_expected(fmt::format("\"{}\"", text));
    }
    void expect_name(std::string_view text) {
        if (!skip_name(text)) fail_expected(fmt::format("\"{}\"", text));
    }
    std::string expect_any_name(std::string_view what) {
        if (peek().kind != TokenKind::kName) fail_expected(what);
        return take().text;
    }
    void expect(TokenKind kind, std::string_view what) {
        if (peek().kind != kind) fail_expected(what);
        take();
    }

    [[noreturn]] void fail_expected(std::string_view what) const {
        fail(peek().position, fmt::format("expected {}, found {}", what, found()));
    }
    [[noreturn]] void fail(Position position, std::string problem, std::string advice = {}) const {
        fail_at(where_, position, std::move(problem), std::move(advice));
    }
    const std::string& where() const { return where_; }

private:
    std::string found() const {
        const Token& token = peek();
        if (token.kind == TokenKind::kEnd) return "the end of the template";
        if (token.kind == TokenKind::kString) return "a text";
        if (token.kind == TokenKind::kData) return "text outside of tags";
        return fmt::format("\"{}\"", token.text);
    }

    std::vector<Token> tokens_;
    const std::string& where_;
    size_t at_ = 0;
};

}  // namespace tessera::jinja
