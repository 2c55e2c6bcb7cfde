#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Tokens of the operator notation. The notation is line based: a line is the unit of tokenizing and of
/// errors.
namespace tessera {

/// Integers of the notation stay exact in float64.
inline constexpr int64_t kLargestInteger = int64_t{1} << 53;

struct Token {
    enum class Kind : uint8_t { kName, kInteger, kReal, kText, kSymbol, kEnd };
    Kind kind = Kind::kEnd;
    std::string_view
        text;  ///< as written; "" at the end of a line. Operators have no kText, a text in quotation marks
    int64_t integer = 0;  ///< of kInteger, at most kLargestInteger
    double real = 0;      ///< of kReal, finite
};

/// The tokens of one line without its comment, kEnd last. They point into `line`.
/// @throws Error for a character or a number that the notation does not know.
std::vector<Token> tokenize(std::string_view line, const std::string& where);

/// Keywords, functions and types: they name nothing else.
bool is_reserved(std::string_view word);

/// Walks over the tokens of a line and words the errors: what was found, what was expected.
class TokenStream {
public:
    TokenStream() = default;
    TokenStream(std::vector<Token> tokens, std::string where);

    const Token& peek(int ahead = 0) const;
    bool at_end() const { return peek().kind == Token::Kind::kEnd; }
    bool at(std::string_view text) const;  ///< the next token is this symbol or word
    Token next();
    bool accept(std::string_view text);  ///< consumes it if it is next
    void expect(std::string_view text, std::string_view context);
    std::string expect_new_name(std::string_view what);  ///< a name that is not reserved
    std::string expect_name(std::string_view what);
    int64_t expect_integer(std::string_view what);
    void expect_end(std::string_view after);
    /// "found `x`, expected ..."
    [[noreturn]] void fail_expecting(std::string_view expected) const;
    [[noreturn]] void fail(const std::string& entity, const std::string& problem,
                           const std::string& advice = {}) const;
    const std::string& where() const { return where_; }
    int position() const { return position_; }
    void rewind(int position) { position_ = position; }

private:
    std::vector<Token> tokens_{Token{}};
    std::string where_;
    int position_ = 0;
};

}  // namespace tessera
