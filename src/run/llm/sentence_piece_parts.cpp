#include "run/llm/sentence_piece_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "run/llm/tokenizer_sources.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using Type = SentencePieceModel::Type;

}  // namespace

std::vector<NormalizerStep> sentence_piece_normalizer(const SentencePieceModel& model,
                                                      const CharacterMapPlace& place, bool legacy) {
    NormalizeSentencePiece step{.kept = user_defined_pieces(model),
                                .adds_space = model.add_dummy_prefix,
                                .removes_spaces = model.remove_extra_whitespaces,
                                .marks_spaces = model.escape_whitespaces,
                                .only_start = !legacy};
    if (!model.character_map.empty())
        step.map = CharacterMap::parse(model.character_map, place.file, place.entity);
    return {std::move(step)};
}

TokenDecoder sentence_piece_decoder(const SentencePieceModel& model) {
    TokenDecoder decoder;
    if (model.escape_whitespaces) decoder.token_steps.emplace_back(ReplaceText{std::string(kSpaceMark), " "});
    decoder.token_steps.emplace_back(DecodeByteToken{});
    // Pieces lose the mark in front; the blank of a byte piece was in the text.
    if (model.remove_extra_whitespaces)
        decoder.front = {StripFront{.content = " ", .each_token = true, .spares_bytes = true}};
    else if (model.add_dummy_prefix)
        decoder.front = {StripFront{.content = " ", .count = 1, .spares_bytes = true}};
    return decoder;
}

std::vector<AddedToken> user_defined_tokens(const SentencePieceModel& model) {
    std::vector<AddedToken> tokens;
    for (size_t id = 0; id < model.types.size(); ++id)
        if (model.types[id] == Type::kUserDefined)
            tokens.push_back({.id = static_cast<TokenId>(id),
                              .content = std::string(model.vocabulary.text(static_cast<TokenId>(id))),
                              .in_model = true});
    return tokens;
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
