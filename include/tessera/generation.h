#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/grammar.h"
#include "tessera/token_id.h"

/// How text is generated, and the result.
namespace tessera {

/// How the next token is chosen. The defaults choose the most probable one. The options apply in this order:
/// repetition penalty, frequency and presence penalty, biases, temperature, top-k, top-p, min-p, typical-p,
/// then one draw.
struct SamplingOptions {
    /// At least 0. 0: the most probable token, ties to the lowest id; only penalties and biases among the
    /// other options then count.
    double temperature = 0;
    int64_t top_k = 0;  ///< draws from so many of the most probable tokens; 0: from all
    /// Draws from the fewest most probable tokens that together have this probability; in (0, 1]. 1: from
    /// all.
    double top_p = 1;
    /// Draws from tokens with at least this fraction of the largest probability; in [0, 1]. 0: from all.
    double min_p = 0;
    /// Draws from the tokens whose surprise is nearest to the expected one, and which together have this
    /// probability; in (0, 1]. 1: from all.
    double typical_p = 1;
    double repetition_penalty = 1;  ///< above 0; above 1 it makes repeated tokens less probable. 1: none
    /// A token is repeated if it is among so many last ones of prompt and text. 0: none is.
    int64_t repetition_window = 64;
    double frequency_penalty = 0;  ///< taken off a token's logit for each time that it is in the window
    double presence_penalty = 0;   ///< taken off once, if it is there
    /// Added to the logits of tokens; minus infinity: the token never comes.
    std::vector<std::pair<TokenId, double>> logit_bias = {};
    uint64_t seed = 0;  ///< of the draws: the same seed, prompt and options give the same text
};

/// The options of sampling that were chosen.
struct SamplingChoices {
    std::optional<double> temperature = {};
    std::optional<int64_t> top_k = {};
    std::optional<double> top_p = {};
    std::optional<double> min_p = {};
    std::optional<double> typical_p = {};
    std::optional<double> repetition_penalty = {};
    std::optional<int64_t> repetition_window = {};

    bool operator==(const SamplingChoices&) const = default;
};

struct GenerateOptions {
    int64_t max_tokens = 128;            ///< at most so many; 0 or less: none, and no step is computed
    SamplingOptions sampling = {};       ///< default: greedy
    std::vector<TokenId> stop_ids = {};  ///< end the text and are not part of it
    bool past_end = false;               ///< true: the model's own end-of-text ids do not end the text
    /// Keeps the keys and values of prompt and text for the next call that says so, which computes only what
    /// differs: a conversation goes on without being read again.
    bool reuse_prefix = false;
    /// The text is one of the grammar's, unless it ends early by another reason than kStopId or kComplete.
    /// Tokens that may not come are taken out before anything else; special ones never come. Only with a
    /// tokenizer.
    std::optional<Grammar> grammar = {};
    /// End the text and are not part of it. None may be empty. Only with a tokenizer.
    std::vector<std::string> stop_strings = {};
    std::function<bool()> should_stop = {};      ///< asked before every step: true ends the text there
    std::function<void(TokenId)> on_token = {};  ///< told every id of the result as soon as it is known
    /// Told the text as it comes, without the prompt, in whole characters. Only with a tokenizer.
    std::function<void(std::string_view)> on_text = {};
};

/// The reason why a text ended.
enum class StopReason {
    kMaxTokens,    ///< `max_tokens` are reached
    kStopId,       ///< one of `stop_ids`, or of the model's own
    kStopString,   ///< one of `stop_strings`
    kComplete,     ///< the grammar allows nothing more
    kContext,      ///< no position is left
    kInterrupted,  ///< `should_stop` returned true
};

/// Wall-clock times. The first token of a text follows from the prompt, each further one from one step.
struct GenerateStatistics {
    int64_t prompt_tokens = 0;  ///< that were computed; fewer than given if `should_stop` interrupted
    int64_t reused_tokens = 0;  ///< of the prompt, that were not: see GenerateOptions::reuse_prefix
    double prompt_seconds = 0;
    int64_t decode_steps = 0;   ///< steps of one token after the prompt
    double decode_seconds = 0;  ///< of these steps, sampling and callbacks included
};

struct Generation {
    std::vector<TokenId> ids;  ///< without the stop id, but with those that spell a stop string
    std::string text;          ///< all that `on_text` was told; empty without a tokenizer
    StopReason reason = StopReason::kMaxTokens;
    GenerateStatistics statistics;
};

}  // namespace tessera
