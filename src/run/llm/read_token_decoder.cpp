#include <utility>

#include "run/llm/component_chain.h"
#include "run/llm/tokenizer_components.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

/// A component behind one that joins all tokens applies to their text as a whole. A text whose tokens are
/// still coming can be stripped at its front, and no more.
void read_fused_component(const JsonCursor& component, const std::string& type, Unsupported& unsupported,
                          TokenDecoder& decoder) {
    if (type != "Strip" || component.at("stop").integer(0, INT32_MAX) > 0) {
        unsupported.push_back(
            fmt::format("decoder {} after Fuse{}", type, type == "Strip" ? " at the end of a text" : ""));
        return;
    }
    StripFront strip{component.at("content").string(),
                     static_cast<size_t>(component.at("start").integer(0, INT32_MAX))};
    if (strip.content.empty()) component.fail("strips an empty text");
    decoder.front.push_back(std::move(strip));
}

/// Tokens must not become longer: several components in a row would make them as long as they like.
void read_decoder_replace(const JsonCursor& component, Unsupported& unsupported, TokenDecoder& decoder) {
    auto pattern = read_pattern(component);
    const std::string content = component.at("content").string();
    if (auto* expression = std::get_if<Regex>(&pattern)) {
        if (content.empty())
            decoder.token_steps.emplace_back(ReplacePattern{std::move(*expression), content});
        else
            unsupported.push_back("decoder Replace of an expression by a text");
    } else if (const auto& text = std::get<std::string>(pattern); content.size() > text.size()) {
        unsupported.push_back("decoder Replace by a longer text");
    } else {
        decoder.token_steps.emplace_back(ReplaceText{text, content});
    }
}

void read_decoder_component(const JsonCursor& component, const std::string& type, Unsupported& unsupported,
                            TokenDecoder& decoder) {
    auto& steps = decoder.token_steps;
    if (type == "ByteLevel") {
        steps.emplace_back(DecodeByteAlphabet{});
    } else if (type == "ByteFallback") {
        steps.emplace_back(DecodeByteToken{});
    } else if (type == "Replace") {
        read_decoder_replace(component, unsupported, decoder);
    } else if (type == "Strip") {
        StripContent strip{component.at("content").string(),
                           static_cast<size_t>(component.at("start").integer(0, INT32_MAX)),
                           static_cast<size_t>(component.at("stop").integer(0, INT32_MAX))};
        if (strip.content.empty()) component.fail("strips an empty text");
        steps.emplace_back(std::move(strip));
    } else if (type == "Metaspace") {
        steps.emplace_back(
            DecodeMetaspace{read_replacement(component), read_prepend_scheme(component) != "never"});
    } else if (type == "WordPiece") {
        steps.emplace_back(
            DecodeWordPiece{component.string_or("prefix", "##"), component.boolean_or("cleanup", true)});
    } else if (type == "BPEDecoder") {
        DecodeEndOfWord decode{component.string_or("suffix", "</w>")};
        if (decode.suffix.empty()) component.fail("has an empty suffix");
        steps.emplace_back(std::move(decode));
    } else {
        unsupported.push_back("decoder " + type);
    }
}

}  // namespace

TokenDecoder read_decoder(const std::optional<JsonCursor>& section, Unsupported& unsupported) {
    TokenDecoder decoder;
    if (!section) {
        decoder.token_steps.emplace_back(SeparateTokens{});
        return decoder;
    }
    bool fused = false;
    for_each_component(*section, "decoders", [&](const JsonCursor& component, const std::string& type) {
        if (fused && type != "Fuse") return read_fused_component(component, type, unsupported, decoder);
        if (type != "Fuse") read_decoder_component(component, type, unsupported, decoder);
        fused = fused || type == "Fuse" || type == "ByteLevel";
    });
    return decoder;
}

}  // namespace tessera::llm
