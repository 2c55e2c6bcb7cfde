#pragma once

#include <string>
#include <string_view>

#include "run/llm/normalizer.h"

namespace tessera::llm {

/// A text, or a stretch between added tokens, as SentencePiece normalises it. `at_start`: the whole text
/// begins here. Bytes that are not UTF-8 stay as they are.
std::string normalize_pieces(const NormalizeSentencePiece& step, std::string_view text, bool at_start);

}  // namespace tessera::llm
