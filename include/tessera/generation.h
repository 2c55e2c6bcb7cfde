#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/token_id.h"

/// How text is generated, and what comes of it.
namespace tessera {

/// How the next token is chosen. The defaults choose the most probable one.
struct SamplingOptions {
    double temperature = 0;         ///< 0: the most probable token; all below but the penalty are then unused
    int64_t top_k = 0;              ///< only so many of the most probable tokens; 0: all
    double top_p = 1;               ///< only the most probable that together have this probability; 1: all
    double min_p = 0;               ///< only those with this fraction of the largest probability; 0: all
    double repetition_penalty = 1;  ///< of tokens that have occurred; 1: none
    int64_t repetition_window = 64;  ///< they have occurred if they are among so many last ones; 0: none has
    uint64_t seed = 0;               ///< of the draws
};

struct GenerateOptions {
    int64_t max_tokens = 128;
    SamplingOptions sampling = {};               ///< greedy
    std::vector<TokenId> stop_ids = {};          ///< end the text and are not part of it
    bool past_end = false;                       ///< goes on where the model would end the text
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

}  // namespace tessera
