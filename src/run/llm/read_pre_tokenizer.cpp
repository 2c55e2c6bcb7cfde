#include <utility>

#include "run/llm/bert_steps.h"
#include "run/llm/byte_level_patterns.h"
#include "run/llm/component_chain.h"
#include "run/llm/map_characters.h"
#include "run/llm/tokenizer_components.h"
#include "run/llm/utf8.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

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

Split read_split(const JsonCursor& component) {
    Split result;
    std::visit([&](const auto& pattern) { result.pattern = pattern; }, read_pattern(component));
    result.behaviour = read_behaviour(component.at("behavior"));
    result.invert = component.boolean_or("invert", false);
    return result;
}

Metaspace::Front read_front(const JsonCursor& component) {
    const std::string scheme = read_prepend_scheme(component);
    if (scheme == "never") return Metaspace::Front::kNever;
    return scheme == "first" ? Metaspace::Front::kFirst : Metaspace::Front::kAlways;
}

void read_pre_tokenizer_component(const JsonCursor& component, const std::string& type,
                                  Unsupported& unsupported, std::vector<PreTokenizerStep>& steps) {
    if (type == "Split") {
        steps.emplace_back(read_split(component));
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
    } else if (type == "BertPreTokenizer") {
        for (PreTokenizerStep& step : bert_pre_tokenizer()) steps.push_back(std::move(step));
    } else if (type == "Digits") {
        const bool individual = component.boolean_or("individual_digits", false);
        steps.emplace_back(
            split(R"(\p{N})", individual ? SplitBehaviour::kIsolated : SplitBehaviour::kContiguous));
    } else if (type == "Punctuation") {
        const auto behaviour = component.find("behavior");
        steps.emplace_back(Split{&is_punctuation,
                                 behaviour ? read_behaviour(*behaviour) : SplitBehaviour::kIsolated, false});
    } else if (type == "CharDelimiterSplit") {
        std::string delimiter = component.at("delimiter").string();
        if (delimiter.empty()) component.fail("has an empty delimiter");
        steps.emplace_back(Split{std::move(delimiter), SplitBehaviour::kRemoved, false});
    } else if (type == "WhitespaceSplit") {
        steps.emplace_back(Split{&is_white_space, SplitBehaviour::kRemoved, false});
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

}  // namespace

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

}  // namespace tessera::llm
