#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

/// Tokens of a program's text. Lines mean nothing but a place for errors.
namespace tessera::movement {

inline constexpr int64_t kLargestNumber = std::numeric_limits<int64_t>::max();

struct ProgramToken {
    enum class Kind : uint8_t { kEnd, kName, kInteger, kReal, kString, kSymbol };
    Kind kind = Kind::kEnd;
    std::string_view text;  ///< as written, of a string with its quotes
    int line = 0;
};

/// Reads from left to right with a lookahead of a few tokens. Unexpected text throws Error with the line.
class ProgramScanner {
public:
    /// @throws Error for a text that is longer than any program's.
    ProgramScanner(std::string_view text, std::string where);

    /// `ahead` of the next token, at most 2.
    const ProgramToken& peek(int ahead = 0) const { return ahead_[static_cast<size_t>(ahead)]; }
    bool at(std::string_view text, int ahead = 0) const;
    bool at_end() const { return peek().kind == ProgramToken::Kind::kEnd; }
    ProgramToken next();
    /// Consumes the token if it is next.
    bool take(std::string_view text);
    void expect(std::string_view text);

    std::string name(std::string_view what);
    std::string quoted(std::string_view what);
    /// An integer with its sign, within these bounds.
    int64_t integer(std::string_view what, int64_t low, int64_t high);

    [[noreturn]] void fail_expecting(std::string_view expected) const;
    [[noreturn]] void fail(const std::string& entity, const std::string& problem) const;
    /// "file:12"
    std::string place() const;

private:
    ProgramToken scan();

    std::string_view text_;
    std::string where_;
    size_t at_ = 0;
    int line_ = 1;
    std::array<ProgramToken, 3> ahead_;
};

}  // namespace tessera::movement
