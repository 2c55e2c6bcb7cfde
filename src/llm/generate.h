#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "llm/session.h"
#include "llm/tokenizer.h"

namespace tessera {

/// The most probable token; the lowest id where several are.
/// @throws Error if a logit is not a number: the model's weights or its code are broken.
TokenId argmax(std::span<const float> logits);

struct GenerateOptions {
    int64_t max_tokens = 128;
    std::vector<TokenId> stop;  ///< ids that end the text and are not part of it
};

enum class StopReason { kMaxTokens, kStopToken, kContext };

/// Wall-clock times. The first token follows from the prompt, each further one from one step.
struct GenerateStatistics {
    int64_t prompt_tokens = 0;
    double prompt_seconds = 0;
    int64_t decode_steps = 0;
    double decode_seconds = 0;
};

struct Generation {
    std::vector<TokenId> ids;
    StopReason reason = StopReason::kMaxTokens;
    GenerateStatistics statistics;
};

/// Continues a sequence greedily after the prompt, which follows what the sequence already holds. `on_token`
/// is told each id as soon as it is known.
/// @throws Error if the prompt does not fit into the context.
Generation generate(Session& session, SequenceId sequence, std::span<const TokenId> prompt,
                    const GenerateOptions& options, const std::function<void(TokenId)>& on_token);

/// Continues a text in a sequence of its own, with a BOS in front where the model expects one. `on_text` gets
/// the continuation in whole characters, without the prompt. The text also ends at the EOS of the tokenizer.
/// @throws Error if the prompt is too long, or empty where the model has no BOS.
Generation generate(Session& session, const Tokenizer& tokenizer, std::string_view prompt,
                    GenerateOptions options, const std::function<void(std::string_view)>& on_text);

}  // namespace tessera
