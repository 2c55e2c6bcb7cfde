#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "run/llm/normalizer.h"

namespace tessera::llm {

/// "<0x0A>" becomes the byte 0x0A.
struct DecodeByteToken {};
/// A text in the byte alphabet becomes its bytes; other texts stay.
struct DecodeByteAlphabet {
    bool of_added = true;  ///< added tokens, too: `tokenizers` does, llama.cpp does not
};
/// Removes up to this many `content` at the ends.
struct StripContent {
    std::string content;  ///< not empty
    size_t start = 0;
    size_t stop = 0;
};

/// Spaces of Metaspace become spaces; those of the first token vanish if the text got one in front.
struct DecodeMetaspace {
    std::string replacement;
    bool drops_front = true;
};
/// Puts a space before each token, except the first one and those that continue a word.
struct DecodeWordPiece {
    std::string prefix;    ///< of tokens that continue a word; removed
    bool cleanup = false;  ///< removes spaces before punctuation, as English has it
};
/// The mark of the end of a word becomes a space; in the last token it is removed.
struct DecodeEndOfWord {
    std::string suffix;  ///< not empty
};
/// A space in front of every token but the first.
struct SeparateTokens {};

using TokenDecoderStep =
    std::variant<DecodeByteToken, DecodeByteAlphabet, ReplaceText, ReplacePattern, StripContent,
                 DecodeMetaspace, DecodeWordPiece, DecodeEndOfWord, SeparateTokens>;

/// The position of a token among those that are decoded together.
struct TokenPlace {
    bool first = false;
    bool last = false;
};

/// Removes up to this many `content` at the beginning of the whole text; or one at the front of each token,
/// up to the first token that is not removed whole.
struct StripFront {
    std::string content;  ///< not empty
    size_t count = 0;
    bool each_token = false;
    bool spares_bytes = false;  ///< nothing is removed from a token that is a byte, nor behind one
};

/// Turns the text of tokens to text, as `decoder` in `tokenizer.json` says. This works while the tokens come
/// in, one token late if the last one is special.
struct TokenDecoder {
    std::vector<TokenDecoderStep> token_steps;  ///< on every token
    std::vector<StripFront> front;              ///< one after the other, on all tokens together

    /// True if the text of a token depends on whether another one follows.
    bool depends_on_last() const;
};

/// @param added the token is one of the added ones, whose text is not in the byte alphabet
std::string apply(const std::vector<TokenDecoderStep>& steps, std::string_view text, bool added,
                  TokenPlace place);

/// StripFront for a text that arrives token by token: text that may yet be removed is held back.
class FrontStripper {
public:
    explicit FrontStripper(StripFront strip) : strip_(std::move(strip)) {}

    /// @param is_byte the token stands for this one byte
    std::string push(std::string_view token, bool is_byte = false);
    std::string finish();

private:
    StripFront strip_;
    bool has_begun_ = false;
    std::string held_;  // a proper prefix of the content
};

/// The byte of "<0xHH>"; -1 for other texts.
int byte_of_token(std::string_view text);

}  // namespace tessera::llm
