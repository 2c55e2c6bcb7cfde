#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/normalizer.h"
#include "run/llm/pattern_set.h"
#include "run/llm/regex.h"
#include "run/llm/tokenizer.h"

namespace tessera::llm {

/// A stretch of a text: an added token, or text between two of them.
struct TextSection {
    std::optional<TokenId> token = {};
    std::string text = {};  ///< normalised; for a token, as it was found
    bool at_start = false;  ///< the whole text begins here, with a character that no normaliser removed
    /// The spelling of this token, which must not become it: nothing is looked for in it.
    std::optional<TokenId> masked = {};
    /// The section follows, or spells, a masked token, and gets no prefix as a beginning does: `text` has a
    /// newline in front, whose ids are to be taken away; `alone` is the text to use if that is not possible.
    bool continues = false;
    std::string alone = {};
};

/// The parts of a text that users wrote.
struct ForeignText {
    std::span<const TextRange> ranges = {};  ///< ascending and apart from each other
    std::span<const TokenId> control = {};  ///< tokens, besides special ones, that it cannot spell; ascending
};

/// Cuts added tokens out of a text: first those that are sought in the raw text, then, between these, those
/// that are sought in the normalised text. Leftmost first, the longest if several begin there.
class AddedTokenSplitter {
public:
    AddedTokenSplitter() = default;
    AddedTokenSplitter(std::vector<AddedToken> tokens, std::span<const NormalizerStep> normalizer);

    /// Sections in order. Special tokens are text if `parse_special` is false, or if any of their bytes is
    /// foreign; then the text is divided at them, as `transformers` does (5.24, `sanitize_control_tokens`).
    std::vector<TextSection> split(std::string_view text, std::span<const NormalizerStep> normalizer,
                                   bool parse_special, const ForeignText& foreign = {}) const;

private:
    struct Found {
        const AddedToken* token;
        TextRange range;
        bool is_masked = false;
    };
    std::vector<Found> find(std::string_view text, const PatternSet& patterns,
                            const std::vector<size_t>& tokens, bool parse_special,
                            const ForeignText& foreign) const;
    std::vector<Found> find_normalized(std::string_view raw, std::string_view normalized, bool parse_special,
                                       const ForeignText& foreign) const;

    std::vector<AddedToken> tokens_;
    PatternSet raw_patterns_;
    PatternSet normalized_patterns_;
    PatternSet unnormalized_patterns_;       // the same tokens as the files spell them
    std::vector<size_t> raw_tokens_;         // by number of the pattern, into tokens_
    std::vector<size_t> normalized_tokens_;  // likewise
};

}  // namespace tessera::llm
