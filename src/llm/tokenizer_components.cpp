#include "llm/tokenizer_components.h"

#include <utility>

#include "llm/byte_level_patterns.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

// A Sequence may hold Sequences; nobody nests them deeper.
constexpr int kDeepestSequence = 8;

/// Calls `read(component, type)` for every component, in order, looking into Sequences, whose list has the
/// name `list`.
template <typename Read>
void for_each_component(const JsonCursor& component, std::string_view list, Read read, int depth = 0) {
    const std::string type = component.at("type").string();
    if (type != "Sequence") return read(component, type);
    if (depth == kDeepestSequence) component.fail("nests sequences too deep");
    for (const JsonCursor& item : component.at(list).items()) for_each_component(item, list, read, depth + 1);
}

/// {"String": "text"}, {"Regex": "expression"} or a plain text.
std::variant<std::string, Regex> read_pattern(const JsonCursor& component) {
    const JsonCursor pattern = component.at("pattern");
    if (pattern.is_object())
        if (const auto expression = pattern.find("Regex"))
            return Regex::compile(expression->string(), expression->file());
    const std::string text = pattern.is_object() ? pattern.at("String").string() : pattern.string();
    if (text.empty()) pattern.fail("is an empty text");
    return text;
}

SplitBehaviour read_behaviour(const JsonCursor& behaviour) {
    const std::string name = behaviour.string();
    if (name == "Isolated") return SplitBehaviour::kIsolated;
    if (name == "Removed") return SplitBehaviour::kRemoved;
    if (name == "MergedWithPrevious") return SplitBehaviour::kMergedWithPrevious;
    if (name == "MergedWithNext") return SplitBehaviour::kMergedWithNext;
    if (name == "Contiguous") return SplitBehaviour::kContiguous;
    behaviour.fail(fmt::format(
        "is \"{}\", expected Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous", name));
}

Split split(std::string_view pattern, SplitBehaviour behaviour, bool invert = false) {
    return {Regex::compile(pattern, "built-in pattern"), behaviour, invert};
}

std::string read_replacement(const JsonCursor& component) {
    std::string text = component.string_or("replacement", "\u2581");
    if (text.empty()) component.fail("has an empty replacement");
    return text;
}

/// Newer files have `prepend_scheme`, older ones `add_prefix_space`.
Metaspace::Front read_front(const JsonCursor& component) {
    const std::string scheme = component.string_or(
        "prepend_scheme", component.boolean_or("add_prefix_space", true) ? "always" : "never");
    if (scheme == "always") return Metaspace::Front::kAlways;
    if (scheme == "first") return Metaspace::Front::kFirst;
    if (scheme == "never") return Metaspace::Front::kNever;
    component.fail(fmt::format("has the prepend_scheme \"{}\", expected always, first or never", scheme));
}

void read_pre_tokenizer_component(const JsonCursor& component, const std::string& type,
                                  Unsupported& unsupported, std::vector<PreTokenizerStep>& steps) {
    if (type == "Split") {
        steps.emplace_back(Split{read_pattern(component), read_behaviour(component.at("behavior")),
                                 component.boolean_or("invert", false)});
    } else if (type == "ByteLevel") {
        if (component.boolean_or("add_prefix_space", true)) steps.emplace_back(SpaceInFront{});
        if (component.boolean_or("use_regex", true))
            steps.emplace_back(split(kGpt2Pattern, SplitBehaviour::kIsolated));
        steps.emplace_back(MapBytes{});
    } else if (type == "Metaspace") {
        Metaspace metaspace{read_replacement(component), read_front(component)};
        steps.emplace_back(metaspace);
        if (component.boolean_or("split", true))
            steps.emplace_back(Split{metaspace.replacement, SplitBehaviour::kMergedWithNext, false});
    } else if (type == "Digits") {
        const bool individual = component.boolean_or("individual_digits", false);
        steps.emplace_back(
            split(R"(\p{N})", individual ? SplitBehaviour::kIsolated : SplitBehaviour::kContiguous));
    } else if (type == "Punctuation") {
        const auto behaviour = component.find("behavior");
        steps.emplace_back(split(R"([\p{P}!-/:-@\[-`{-~])",
                                 behaviour ? read_behaviour(*behaviour) : SplitBehaviour::kIsolated));
    } else if (type == "WhitespaceSplit") {
        steps.emplace_back(split(R"(\s)", SplitBehaviour::kRemoved));
    } else if (type == "Whitespace") {
        // \w as is_word_character has it.
        constexpr std::string_view kWord =
            R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149})"
            R"(\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
        steps.emplace_back(split(fmt::format(R"([{0}]+|[^{0}\s]+)", kWord), SplitBehaviour::kRemoved, true));
    } else {
        unsupported.push_back("pre-tokenizer " + type);
    }
}

void read_normalizer_component(const JsonCursor& component, const std::string& type, Unsupported& unsupported,
                               std::vector<NormalizerStep>& steps) {
    if (type == "NFC") {
        steps.emplace_back(UnicodeForm::kNfc);
    } else if (type == "NFD") {
        steps.emplace_back(UnicodeForm::kNfd);
    } else if (type == "NFKC") {
        steps.emplace_back(UnicodeForm::kNfkc);
    } else if (type == "NFKD") {
        steps.emplace_back(UnicodeForm::kNfkd);
    } else if (type == "Lowercase") {
        steps.emplace_back(Lowercase{});
    } else if (type == "Prepend") {
        steps.emplace_back(Prepend{component.at("prepend").string()});
    } else if (type == "Strip") {
        steps.emplace_back(
            StripSpace{component.boolean_or("strip_left", true), component.boolean_or("strip_right", true)});
    } else if (type == "Replace") {
        auto pattern = read_pattern(component);
        std::string content = component.at("content").string();
        // A text made of matches would grow by this factor (normalizer.cpp bounds several steps).
        if (constexpr size_t kLongest = 64; content.size() > kLongest)
            component.fail(fmt::format("puts in {} bytes, expected at most {}", content.size(), kLongest));
        if (auto* expression = std::get_if<Regex>(&pattern))
            steps.emplace_back(ReplacePattern{std::move(*expression), std::move(content)});
        else
            steps.emplace_back(ReplaceText{std::get<std::string>(std::move(pattern)), std::move(content)});
    } else {
        unsupported.push_back("normalizer " + type);
    }
}

/// A component after Fuse applies to all tokens together. A text whose tokens are still coming can be
/// stripped at its front, and no more.
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

void read_decoder_component(const JsonCursor& component, const std::string& type, Unsupported& unsupported,
                            TokenDecoder& decoder) {
    auto& steps = decoder.token_steps;
    if (type == "ByteLevel") {
        steps.emplace_back(DecodeByteAlphabet{});
    } else if (type == "ByteFallback") {
        steps.emplace_back(DecodeByteToken{});
    } else if (type == "Replace") {
        const auto pattern = read_pattern(component);
        const auto* text = std::get_if<std::string>(&pattern);
        const std::string content = component.at("content").string();
        if (text == nullptr)
            unsupported.push_back("decoder Replace with an expression");
        else if (content.size() > text->size())  // several in a row would make a token as long as they like
            unsupported.push_back("decoder Replace by a longer text");
        else
            steps.emplace_back(ReplaceText{*text, content});
    } else if (type == "Strip") {
        StripContent strip{component.at("content").string(),
                           static_cast<size_t>(component.at("start").integer(0, INT32_MAX)),
                           static_cast<size_t>(component.at("stop").integer(0, INT32_MAX))};
        if (strip.content.empty()) component.fail("strips an empty text");
        steps.emplace_back(std::move(strip));
    } else if (type == "Metaspace") {
        steps.emplace_back(ReplaceText{read_replacement(component), " "});
        // The space that the pre-tokenizer puts in front of a text.
        if (read_front(component) != Metaspace::Front::kNever) decoder.front.push_back(StripFront{" ", 1});
    } else {
        unsupported.push_back("decoder " + type);
    }
}

/// The ids that a token of the template stands for.
std::vector<TokenId> template_ids(const JsonCursor& component, const std::string& name) {
    std::vector<TokenId> ids;
    for (const JsonCursor& id : component.at("special_tokens").at(name).at("ids").items())
        ids.push_back(static_cast<TokenId>(id.integer(0, Vocabulary::kLargestId)));
    return ids;
}

void read_template(const JsonCursor& component, Affixes& affixes) {
    std::vector<TokenId> before;
    std::vector<TokenId> after;
    bool passed_text = false;
    for (const JsonCursor& piece : component.at("single").items()) {
        if (piece.find("Sequence")) {
            if (passed_text) piece.fail("repeats the text, which is not supported");
            passed_text = true;
            continue;
        }
        const std::vector<TokenId> ids = template_ids(component, piece.at("SpecialToken").at("id").string());
        auto& side = passed_text ? after : before;
        side.insert(side.end(), ids.begin(), ids.end());
    }
    if (!passed_text) component.fail("has no place for the text in its `single` template");
    // A later processor wraps what the earlier ones made.
    affixes.prefix.insert(affixes.prefix.begin(), before.begin(), before.end());
    affixes.suffix.insert(affixes.suffix.end(), after.begin(), after.end());
}

}  // namespace

std::vector<NormalizerStep> read_normalizer(const std::optional<JsonCursor>& section,
                                            Unsupported& unsupported) {
    std::vector<NormalizerStep> steps;
    if (section)
        for_each_component(*section, "normalizers",
                           [&](const JsonCursor& component, const std::string& type) {
                               read_normalizer_component(component, type, unsupported, steps);
                           });
    return steps;
}

std::vector<PreTokenizerStep> read_pre_tokenizer(const std::optional<JsonCursor>& section,
                                                 Unsupported& unsupported) {
    std::vector<PreTokenizerStep> steps;
    if (section)
        for_each_component(*section, "pretokenizers",
                           [&](const JsonCursor& component, const std::string& type) {
                               read_pre_tokenizer_component(component, type, unsupported, steps);
                           });
    return steps;
}

TokenDecoder read_decoder(const std::optional<JsonCursor>& section, Unsupported& unsupported) {
    TokenDecoder decoder;
    bool fused = false;
    if (section)
        for_each_component(*section, "decoders", [&](const JsonCursor& component, const std::string& type) {
            if (type == "Fuse")
                fused = true;
            else if (fused)
                read_fused_component(component, type, unsupported, decoder);
            else
                read_decoder_component(component, type, unsupported, decoder);
        });
    return decoder;
}

Affixes read_post_processor(const std::optional<JsonCursor>& section, Unsupported& unsupported) {
    Affixes affixes;
    if (section)
        for_each_component(*section, "processors", [&](const JsonCursor& component, const std::string& type) {
            if (type == "TemplateProcessing")
                read_template(component, affixes);
            else if (type != "ByteLevel")  // moves offsets only
                unsupported.push_back("post-processor " + type);
        });
    return affixes;
}

}  // namespace tessera::llm
