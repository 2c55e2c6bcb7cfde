#include "llm/sentence_piece_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using Type = SentencePieceModel::Type;

CharacterMap character_map_of(const SentencePieceModel& model, const CharacterMapPlace& place) {
    CharacterMap map = CharacterMap::parse(model.character_map, place.file, place.entity);
    // The library removes extra spaces between replacements, not within them.
    if (model.remove_extra_whitespaces && map.makes_double_spaces())
        throw Error(place.file, place.entity, "has a replacement with two spaces, which is not supported",
                    place.advice);
    return map;
}

}  // namespace

std::vector<NormalizerStep> sentence_piece_normalizer(const SentencePieceModel& model,
                                                      const CharacterMapPlace& place) {
    const auto replace = [](std::string_view pattern, std::string text) {
        return ReplacePattern{Regex::compile(pattern, "built-in pattern"), std::move(text)};
    };
    std::vector<NormalizerStep> steps;
    if (!model.character_map.empty())
        steps.emplace_back(ReplaceLongest{character_map_of(model, place), user_defined_pieces(model)});
    if (model.remove_extra_whitespaces) {
        steps.emplace_back(replace(R"(\A +)", ""));
        steps.emplace_back(replace(" {2,}", " "));
    }
    // Also to a text of which the map has left nothing.
    if (model.add_dummy_prefix) steps.emplace_back(Prepend{.text = " ", .to_empty = true});
    if (model.escape_whitespaces) steps.emplace_back(ReplaceText{" ", std::string(kSpaceMark)});
    // At the end the library removes marks that the text itself has, too.
    if (model.remove_extra_whitespaces)
        steps.emplace_back(replace(
            fmt::format(R"((?:{})+\z)", model.escape_whitespaces ? kSpaceMark : std::string_view(" ")), ""));
    return steps;
}

TokenDecoder sentence_piece_decoder(const SentencePieceModel& model) {
    TokenDecoder decoder;
    if (model.escape_whitespaces) decoder.token_steps.emplace_back(ReplaceText{std::string(kSpaceMark), " "});
    decoder.token_steps.emplace_back(DecodeByteToken{});
    if (model.remove_extra_whitespaces)
        decoder.front = {StripFront{.content = " ", .each_token = true}};
    else if (model.add_dummy_prefix)
        decoder.front = {StripFront{.content = " ", .count = 1}};
    return decoder;
}

// The numbers are those of the library, version 0.2.3.
Unigram sentence_piece_unigram(const SentencePieceModel& model) {
    constexpr float kBonus = 0.1F;
    float best = kBonus;
    float worst = std::numeric_limits<float>::max();
    for (size_t id = 0; id < model.types.size(); ++id) {
        if (model.types[id] != Type::kNormal) continue;
        best = std::max(best, model.scores[id]);
        worst = std::min(worst, model.scores[id]);
    }

    constexpr float kUnknownPenalty = 10;
    std::vector<double> scores(model.types.size(), std::numeric_limits<double>::quiet_NaN());
    for (size_t id = 0; id < model.types.size(); ++id) {
        const auto size = static_cast<float>(model.vocabulary.text(static_cast<TokenId>(id)).size());
        if (model.types[id] == Type::kNormal) scores[id] = model.scores[id];
        if (model.types[id] == Type::kUserDefined) scores[id] = size * best - kBonus;
    }
    UnigramOptions options;
    options.unknown = unknown_piece(model);
    options.unknown_score = worst - kUnknownPenalty;
    options.rounds_to_single = true;
    if (model.byte_fallback) options.byte_tokens = find_byte_tokens(model.vocabulary);
    return Unigram(model.vocabulary, std::move(scores), options);
}

PatternSet user_defined_pieces(const SentencePieceModel& model) {
    std::vector<std::string> texts;
    for (size_t id = 0; id < model.types.size(); ++id)
        if (model.types[id] == Type::kUserDefined)
            texts.emplace_back(model.vocabulary.text(static_cast<TokenId>(id)));
    return PatternSet(texts);
}

std::optional<TokenId> unknown_piece(const SentencePieceModel& model) {
    const auto found = std::find(model.types.begin(), model.types.end(), Type::kUnknown);
    if (found == model.types.end()) return std::nullopt;
    return static_cast<TokenId>(found - model.types.begin());
}

}  // namespace tessera::llm
