#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "llm/normalizer.h"

namespace tessera {

/// "<0x0A>" becomes the byte 0x0A.
struct DecodeByteToken {};
/// A text in the byte alphabet becomes its bytes; other texts stay.
struct DecodeByteAlphabet {};
/// Removes up to so many `content` at the ends.
struct StripContent {
    std::string content;  ///< not empty
    size_t start = 0;
    size_t stop = 0;
};

using TokenDecoderStep = std::variant<DecodeByteToken, DecodeByteAlphabet, ReplaceText, StripContent>;

/// From the text of tokens to text, as `decoder` in `tokenizer.json` says.
struct TokenDecoder {
    std::vector<TokenDecoderStep> token_steps;  ///< on every token
    std::vector<TokenDecoderStep> text_steps;  ///< on all of them together, only when a whole text is decoded
};

/// `added`: the token is one of the added ones, whose text is not in the byte alphabet.
std::string apply(const std::vector<TokenDecoderStep>& steps, std::string_view text, bool added);

/// The byte of "<0xHH>"; -1 for other texts.
int byte_of_token(std::string_view text);

}  // namespace tessera
