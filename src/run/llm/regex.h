#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/text_range.h"

namespace tessera::llm {

/// A regular expression over UTF-8 with Unicode properties and look-around. Immutable; copies share the
/// program. Patterns come from files: one that cannot finish within its budget of steps on some text throws,
/// it does not hang.
class Regex {
public:
    /// Compiles a pattern in the dialect of Oniguruma, in which the pre-tokenizers of `tokenizer.json` are
    /// written. `where` is named in errors.
    /// @throws Error on a pattern that is wrong, or that uses features of this dialect that PCRE2 lacks.
    static Regex compile(std::string_view pattern, std::string where);

    /// All matches from left to right that do not overlap; empty ones included.
    /// @pre `text` is valid UTF-8
    /// @throws Error when the budget is exceeded
    std::vector<TextRange> find_all(std::string_view text) const;

    const std::string& pattern() const { return pattern_; }

private:
    friend class RegexSearch;

    std::string pattern_;
    std::string where_;
    std::shared_ptr<const void> program_;
};

/// Finds the matches of one expression in many texts, by one thread. The working memory of a match is made
/// once: that takes far longer than the search in a piece of a few bytes.
class RegexSearch {
public:
    /// @pre `regex` lives as long as the search
    explicit RegexSearch(const Regex& regex);
    RegexSearch(const RegexSearch&) = delete;
    RegexSearch& operator=(const RegexSearch&) = delete;
    ~RegexSearch();

    /// As Regex::find_all. The matches are valid until the next call.
    const std::vector<TextRange>& find_all(std::string_view text);

private:
    struct Scratch;

    const Regex& regex_;
    std::unique_ptr<Scratch> scratch_;
    std::vector<TextRange> found_;
};

}  // namespace tessera::llm
