#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::grammar {

/// A place in the text of a grammar, and what every rule of the language reads there.
class GbnfScanner {
public:
    GbnfScanner(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

    size_t offset() const { return at_; }
    bool at_end() const { return at_ == text_.size(); }
    /// The byte here; 0 at the end.
    char peek() const { return at_end() ? '\0' : text_[at_]; }
    bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    /// Passes over it, if it is here.
    bool take(std::string_view what);
    /// @throws Error unless it is here
    void expect(std::string_view what, std::string_view purpose);

    /// Blanks and comments; line breaks as well, if `lines`.
    void skip_blanks(bool lines);
    /// Blanks of several lines, if a `|` follows them: a choice that goes on.
    void skip_to_bar();
    bool sees_name() const;
    /// Letters, digits, `-` and `_`. @throws Error if there are none
    std::string name();
    /// @throws Error beyond `most`
    long long number(long long most);
    /// A character as it is, or by an escape, inside of `closing`.
    char32_t character(char closing);

    /// "FILE:LINE:COLUMN"
    std::string place(size_t offset) const;
    [[noreturn]] void fail(size_t offset, std::string problem, std::string advice = {}) const;
    /// The character here, for messages.
    std::string shown_here() const;

private:
    char32_t escape();
    char32_t utf8_character();

    std::string_view text_;
    std::string where_;
    size_t at_ = 0;
};

}  // namespace tessera::grammar
