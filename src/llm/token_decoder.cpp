#include "llm/token_decoder.h"

#include <charconv>

#include "llm/byte_alphabet.h"

namespace tessera::llm {
namespace {

struct ApplyDecoder {
    std::string_view text;
    bool added;

    std::string operator()(const DecodeByteToken&) const {
        const int byte = byte_of_token(text);
        return byte < 0 ? std::string(text) : std::string(1, static_cast<char>(byte));
    }

    std::string operator()(const DecodeByteAlphabet&) const {
        // A character of an added token may be in the alphabet by chance.
        if (added) return std::string(text);
        return bytes_of_alphabet(text).value_or(std::string(text));
    }

    std::string operator()(const ReplaceText& replace) const {
        return replace_all(text, replace.from, replace.to);
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

std::string apply(const std::vector<TokenDecoderStep>& steps, std::string_view text, bool added) {
    std::string result(text);
    for (const TokenDecoderStep& step : steps) result = std::visit(ApplyDecoder{result, added}, step);
    return result;
}

std::string FrontStripper::push(std::string_view piece) {
    std::string text = std::exchange(held_, {});
    text += piece;
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
