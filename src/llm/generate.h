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

namespace tessera {

struct GenerateOptions {
    int64_t max_tokens = 128;
    SamplingOptions sampling = {};               ///< greedy
    std::vector<TokenId> stop_ids = {};          ///< end the text and are not part of it
    std::vector<std::string> stop_strings = {};  ///< likewise; only where there is a tokenizer
    std::function<bool()> should_stop = {};      ///< asked before every step: true ends the text there
    std::function<void(TokenId)> on_token = {};  ///< told every id as soon as it is known
    /// Told the text as it comes, without the prompt, never a part of a character; only where there is a
    /// tokenizer.
    std::function<void(std::string_view)> on_text = {};
};

/// What ended a text.
enum class StopReason {
    kMaxTokens,
    kStopId,
    kStopString,
    kContext,      ///< no position is left
    kInterrupted,  ///< `should_stop` said so
};

/// Wall-clock times. The first token follows from the prompt, each further one from one step.
struct GenerateStatistics {
    int64_t prompt_tokens = 0;  ///< that were computed
    double prompt_seconds = 0;
    int64_t decode_steps = 0;
    double decode_seconds = 0;
};

struct Generation {
    std::vector<TokenId> ids;  ///< without the stop id, but with those that spell a stop string
    std::string text;          ///< all that `on_text` was told
    StopReason reason = StopReason::kMaxTokens;
    GenerateStatistics statistics;
};

/// Continues a sequence after the prompt, which follows what the sequence already holds. The repetition
/// penalty sees the prompt and what is generated.
/// @throws Error if an option is outside its range, or the prompt is empty or does not fit into the context.
Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options);

/// Continues a prompt in a sequence of its own. The text also ends at the EOS of the tokenizer.
/// @throws Error as above, and if a stop string is empty.
Generation generate(Session& session, const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                    GenerateOptions options);

}  // namespace tessera
