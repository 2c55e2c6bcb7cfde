#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/llm/normalizer.h"
#include "run/llm/pattern_set.h"
#include "run/llm/sentence_piece_model.h"
#include "run/llm/token_decoder.h"
#include "run/llm/unigram.h"

namespace tessera::llm {

/// The steps of SentencePiece, from the contents of a `tokenizer.model` or of the keys of a GGUF file that
/// repeat them.

/// The place of the map of characters, for errors.
struct CharacterMapPlace {
    std::string file;
    std::string entity;
};
/// @param legacy as in `transformers`: every stretch of text between added tokens is a text of its own
/// @throws Error for a map that is damaged
std::vector<NormalizerStep> sentence_piece_normalizer(const SentencePieceModel& model,
                                                      const CharacterMapPlace& place, bool legacy = true);

TokenDecoder sentence_piece_decoder(const SentencePieceModel& model);

/// User-defined pieces score above all learned ones, so that the best division has all of them.
Unigram sentence_piece_unigram(const SentencePieceModel& model);

/// Pieces that are kept unchanged wherever a text has them.
PatternSet user_defined_pieces(const SentencePieceModel& model);

/// The same as added tokens that the model finds.
std::vector<AddedToken> user_defined_tokens(const SentencePieceModel& model);

/// The piece that stands for unknown characters.
std::optional<TokenId> unknown_piece(const SentencePieceModel& model);

}  // namespace tessera::llm
