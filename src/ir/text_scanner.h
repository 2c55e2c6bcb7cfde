#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/tensor_type.h"

namespace tessera {

/// Reads one line of the textual form of a graph from left to right; blanks between tokens are skipped. Every
/// method that reads throws Error naming place, what was found and what was expected.
class TextScanner {
public:
    TextScanner(std::string_view line, std::string where) : line_(line), where_(std::move(where)) {}

    /// Consumes the token and returns true if it is next; a token of letters must end there.
    bool take(std::string_view token);
    void expect(std::string_view token);
    void expect_end();
    bool at_end();

    std::string name(std::string_view what);
    int64_t integer(std::string_view what);  ///< not negative
    double real(std::string_view what);
    std::string quoted(std::string_view what);
    /// "f32[T, 64] order [1, 0] lanes <1:16> acc i32".
    TensorType type();

    [[noreturn]] void fail_expecting(std::string_view expected);
    const std::string& where() const { return where_; }
    /// Not yet read, without leading blanks.
    std::string_view rest();

    /// "order [1, 0] lanes <1:16>"; the empty text is row-major.
    Layout layout();

private:
    ElementType element_type();
    char escaped(std::string_view text, size_t& at);

    std::string_view line_;
    std::string where_;
    size_t at_ = 0;
};

}  // namespace tessera
