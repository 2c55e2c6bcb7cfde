#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "llm/normalizer.h"

namespace tessera::llm {

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

/// Removes up to so many `content` where a whole text begins.
struct StripFront {
    std::string content;  ///< not empty
    size_t count = 0;
};

/// From the text of tokens to text, as `decoder` in `tokenizer.json` says. All of it can be done while the
/// tokens come in.
struct TokenDecoder {
    std::vector<TokenDecoderStep> token_steps;  ///< on every token
    std::vector<StripFront> front;              ///< one after the other, on all tokens together
};

/// `added`: the token is one of the added ones, whose text is not in the byte alphabet.
std::string apply(const std::vector<TokenDecoderStep>& steps, std::string_view text, bool added);

/// StripFront on a text that arrives in pieces: text that may yet be removed is held back.
class FrontStripper {
public:
    explicit FrontStripper(StripFront strip) : strip_(std::move(strip)) {}

    std::string push(std::string_view piece);
    std::string finish();

private:
    StripFront strip_;
    std::string held_;  // a proper prefix of the content
};

/// The byte of "<0xHH>"; -1 for other texts.
int byte_of_token(std::string_view text);

}  // namespace tessera::llm
