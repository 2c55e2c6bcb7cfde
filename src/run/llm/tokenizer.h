#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/llm/text_range.h"
#include "tessera/token_id.h"

namespace tessera::llm {

/// A token that is cut out of the text before anything else is done with it.
struct AddedToken {
    TokenId id = 0;
    std::string content;
    bool special = false;      ///< steers the model and is not text: BOS, EOS, roles of a chat
    bool single_word = false;  ///< only where no word character touches it
    bool lstrip = false;       ///< takes the white space on its left with it
    bool rstrip = false;       ///< takes the white space on its right with it
    bool normalized = false;   ///< looked for in the normalised text, not in the raw one
    /// The model of the vocabulary finds it by itself, with the text around it: it is cut out only where it
    /// must not become a token.
    bool in_model = false;

    bool operator==(const AddedToken&) const = default;
};

struct EncodeOptions {
    bool add_special = false;   ///< put the tokens around a whole text that the model expects there (BOS,
                                ///< EOS)
    bool parse_special = true;  ///< a special token spelled out in the text becomes its id; else it is text
    /// Ranges of the text, ascending and apart from each other, where special tokens are text even so: the
    /// user's text within that of a template.
    std::span<const TextRange> foreign = {};
    /// Tokens that are special for this text, though they are not flagged so; ascending.
    std::span<const TokenId> control = {};
};

struct DecodeOptions {
    bool skip_special = false;  ///< leave special tokens out
};

struct TokenDecoder;
struct TokenPlace;
struct TokenizerParts;

/// Text to token ids and back, exactly as the tokenizer that the model was trained with. An immutable value:
/// copies share their tables, and all functions may be called from several threads at once.
class Tokenizer {
public:
    explicit Tokenizer(TokenizerParts parts);

    /// Any bytes are accepted. Those that are not UTF-8 survive the way through ids if the vocabulary has a
    /// token for every byte. @throws Error if a pattern of the vocabulary exceeds its matching budget on this
    /// text, or a character has no token and there is none for unknown characters.
    std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;

    /// The ids of a text that is to be continued: with the tokens in front that the model expects (BOS), and
    /// none behind, even if the tokenizer ends every text with EOS. @throws as encode.
    std::vector<TokenId> encode_prompt(std::string_view text, bool parse_special) const;

    /// @throws Error on an id that the vocabulary does not have.
    std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

    /// The bytes that a token adds to a text that has already begun and goes on; may be part of a character
    /// (see TextStream).
    /// @throws Error on an id that the vocabulary does not have.
    std::string token_bytes(TokenId id) const;
    /// As above for a token that is the first one, or the last.
    std::string token_bytes(TokenId id, TokenPlace place) const;

    /// False for ids beyond the vocabulary, and for those in gaps of it.
    bool has_text(TokenId id) const;
    /// One more than the largest id.
    size_t vocabulary_size() const;
    std::optional<TokenId> find(std::string_view token) const;  ///< by its spelling in the vocabulary
    bool is_special(TokenId id) const;
    bool is_byte(TokenId id) const;  ///< one of the 256 that stand for a byte each

    std::optional<TokenId> bos() const;
    const std::vector<TokenId>& eos() const;  ///< every id that ends a text; ascending
    /// True if `add_special` puts a BOS in front.
    bool adds_bos() const;
    const std::vector<AddedToken>& added_tokens() const;  ///< by ascending id
    const TokenDecoder& decoder() const;

private:
    void check_id(TokenId id) const;

    std::shared_ptr<const TokenizerParts> parts_;
};

}  // namespace tessera::llm
