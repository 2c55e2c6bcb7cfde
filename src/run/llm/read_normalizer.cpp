#include <utility>

#include "run/llm/base64.h"
#include "run/llm/bert_steps.h"
#include "run/llm/component_chain.h"
#include "run/llm/map_characters.h"
#include "run/llm/tokenizer_components.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

void read_replace(const JsonCursor& component, std::vector<NormalizerStep>& steps) {
    auto pattern = read_pattern(component);
    std::string content = component.at("content").string();
    // A text made of matches would grow by this factor (normalizer.cpp bounds several steps).
    if (constexpr size_t kLongest = 64; content.size() > kLongest)
        component.fail(fmt::format("puts in {} bytes, expected at most {}", content.size(), kLongest));
    if (auto* expression = std::get_if<Regex>(&pattern))
        steps.emplace_back(ReplacePattern{std::move(*expression), std::move(content)});
    else
        steps.emplace_back(ReplaceText{std::get<std::string>(std::move(pattern)), std::move(content)});
}

void read_bert(const JsonCursor& component, std::vector<NormalizerStep>& steps) {
    BertNormalizer bert;
    bert.clean_text = component.boolean_or("clean_text", true);
    bert.surround_ideographs = component.boolean_or("handle_chinese_chars", true);
    bert.lowercase = component.boolean_or("lowercase", true);
    bert.strip_accents = component.boolean_or("strip_accents", bert.lowercase);
    for (NormalizerStep& step : bert.steps()) steps.push_back(std::move(step));
}

void read_precompiled(const JsonCursor& component, std::vector<NormalizerStep>& steps) {
    const JsonCursor map = component.at("precompiled_charsmap");
    const auto bytes = decode_base64(map.string());
    if (!bytes) map.fail("is not in base 64");
    // An empty map stands for none.
    if (bytes->empty()) return;
    steps.emplace_back(ReplaceClusters{CharacterMap::parse(*bytes, map.file(), map.place())});
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
    } else if (type == "StripAccents") {
        steps.emplace_back(RemoveMarks{.only_nonspacing = false});
    } else if (type == "Replace") {
        read_replace(component, steps);
    } else if (type == "BertNormalizer") {
        read_bert(component, steps);
    } else if (type == "Precompiled") {
        read_precompiled(component, steps);
    } else if (type == "Nmt") {
        steps.emplace_back(MapCharacters{&apply_nmt_rules});
    } else if (type == "ByteLevel") {
        steps.emplace_back(WriteByteAlphabet{});
    } else {
        unsupported.push_back("normalizer " + type);
    }
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

}  // namespace tessera::llm
