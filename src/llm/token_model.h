#pragma once

#include <variant>

#include "llm/bpe.h"
#include "llm/unigram.h"
#include "llm/word_level.h"
#include "llm/word_piece.h"

namespace tessera::llm {

/// The algorithm that turns a piece of text into tokens; all have `encode(vocabulary, piece, out)`.
using TokenModel = std::variant<Bpe, Unigram, WordPiece, WordLevel>;

}  // namespace tessera::llm
