#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/sample.h"
#include "llm/session.h"
#include "llm/tokenizer.h"
#include "tessera/generation.h"

namespace tessera::llm {

/// Continues a sequence after the prompt, which follows the tokens that the sequence already holds. The
/// repetition penalty sees the prompt and the generated tokens.
/// @throws Error if an option is outside its range, or the prompt is empty or does not fit into the context.
Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options);

/// Continues a prompt in a sequence of its own. The text also ends at the EOS of the tokenizer, unless
/// `past_end`.
/// @throws Error as above, and if a stop string is empty.
Generation generate(Session& session, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                    GenerateOptions options);

}  // namespace tessera::llm
