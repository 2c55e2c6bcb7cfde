#include "run/llm/token_decoder.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "run/llm/byte_alphabet.h"

namespace tessera::llm {
namespace {

/// The cleanup of the `tokenizers` library: in this order, each on the whole token.
std::string clean_up(std::string text) {
    using namespace std::string_view_literals;
    constexpr std::array kReplacements = {
        std::pair{" ."sv, "."sv},     std::pair{" ?"sv, "?"sv},           std::pair{" !"sv, "!"sv},
        std::pair{" ,"sv, ","sv},     std::pair{" ' "sv, "'"sv},          std::pair{" n't"sv, "n't"sv},
        std::pair{" 'm"sv, "'m"sv},   std::pair{" do not"sv, " don't"sv}, std::pair{" 's"sv, "'s"sv},
        std::pair{" 've"sv, "'ve"sv}, std::pair{" 're"sv, "'re"sv}};
    for (const auto& [from, to] : kReplacements) text = replace_all(text, from, to);
    return text;
}

struct ApplyDecoder {
    std::string_view text;
    bool added;
    TokenPlace place;

    std::string operator()(const DecodeByteToken&) const {
        const int byte = byte_of_token(text);
        return byte < 0 ? std::string(text) : std::string(1, static_cast<char>(byte));
    }

    std::string operator()(const DecodeByteAlphabet& decode) const {
        if (added && !decode.of_added) return std::string(text);
        return bytes_of_alphabet(text).value_or(std::string(text));
    }

    std::string operator()(const ReplaceText& replace) const {
        return replace_all(text, replace.from, replace.to);
    }

    std::string operator()(const ReplacePattern& replace) const {
        return normalize(std::array<NormalizerStep, 1>{replace}, text);
    }

    std::string operator()(const DecodeMetaspace& decode) const {
        return replace_all(text, decode.replacement, place.first && decode.drops_front ? "" : " ");
    }

    std::string operator()(const DecodeWordPiece& decode) const {
        std::string result(text);
        if (!place.first) {
            if (text.starts_with(decode.prefix))
                result.erase(0, decode.prefix.size());
            else
                result.insert(0, " ");
        }
        return decode.cleanup ? clean_up(std::move(result)) : result;
    }

    std::string operator()(const DecodeEndOfWord& decode) const {
        return replace_all(text, decode.suffix, place.last ? "" : " ");
    }

    std::string operator()(const SeparateTokens&) const {
        return place.first ? std::string(text) : " " + std::string(text);
    }

    std::string operator()(const StripContent& strip) const {
        std::string_view rest = text;
        for (size_t i = 0; i < strip.start && rest.starts_with(strip.content); ++i)
            rest.remove_prefix(strip.content.size());
        for (size_t i = 0; i < strip.stop && rest.ends_with(strip.content); ++i)
            rest.remove_suffix(strip.content.size());
        return std::string(rest);
    }
};

}  // namespace

bool TokenDecoder::depends_on_last() const {
    return std::any_of(token_steps.begin(), token_steps.end(), [](const TokenDecoderStep& step) {
        return std::holds_alternative<DecodeEndOfWord>(step);
    });
}

std::string apply(const std::vector<TokenDecoderStep>& steps, std::string_view text, bool added,
                  TokenPlace place) {
    std::string result(text);
    for (const TokenDecoderStep& step : steps) result = std::visit(ApplyDecoder{result, added, place}, step);
    return result;
}

std::string FrontStripper::push(std::string_view token, bool is_byte) {
    if (is_byte && strip_.spares_bytes) {
        has_begun_ = true;
        strip_.count = 0;
    }
    if (strip_.each_token) {
        if (!has_begun_ && token.starts_with(strip_.content)) token.remove_prefix(strip_.content.size());
        has_begun_ = has_begun_ || !token.empty();
        return std::string(token);
    }
    std::string text = std::exchange(held_, {});
    text += token;
    while (strip_.count > 0 && text.starts_with(strip_.content)) {
        text.erase(0, strip_.content.size());
        --strip_.count;
    }
    if (strip_.count == 0) return text;
    if (strip_.content.starts_with(text)) {
        held_ = std::move(text);
        return {};
    }
    strip_.count = 0;
    return text;
}

std::string FrontStripper::finish() {
    return std::exchange(held_, {});
}

int byte_of_token(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return -1;
    int byte = 0;
    const auto [end, error] = std::from_chars(text.data() + 3, text.data() + 5, byte, 16);
    return error == std::errc() && end == text.data() + 5 ? byte : -1;
}

}  // namespace tessera::llm
