#pragma once

#include <variant>

#include "run/llm/bpe.h"
#include "run/llm/unigram.h"
#include "run/llm/word_level.h"
#include "run/llm/word_piece.h"

namespace tessera::llm {

/// The algorithm that turns a piece of text into tokens; all have `encode(vocabulary, piece, out)`.
using TokenModel = std::variant<Bpe, Unigram, WordPiece, WordLevel>;

}  // namespace tessera::llm
