#include "run/llm/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "run/llm/argmax.h"
#include "run/llm/candidates.h"
#include "run/llm/repetition_penalty.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

template <typename Value>
void expect(bool holds, const char* option, Value value, const char* range) {
    if (!holds)
        throw Error("", option, fmt::format("is {}, expected {}", value, range), "", ErrorKind::kUsage);
}

std::span<const TokenId> window(std::span<const TokenId> history, int64_t size) {
    return history.last(std::min(history.size(), static_cast<size_t>(size)));
}

void add_biases(std::vector<float>& logits, const SamplingOptions& options) {
    for (const auto& [id, bias] : options.logit_bias) {
        if (static_cast<size_t>(id) >= logits.size())
            throw Error("", "logit_bias",
                        fmt::format("has the token {}, but the vocabulary has {}", id, logits.size()), "",
                        ErrorKind::kUsage);
        float& logit = logits[static_cast<size_t>(id)];
        logit = static_cast<float>(logit + bias);
    }
}

}  // namespace

void check(const SamplingOptions& o) {
    // Written so that NaN fails too.
    expect(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature, "0 or more");
    expect(o.top_k >= 0, "top_k", o.top_k, "0 or more");
    expect(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "above 0 and at most 1");
    expect(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "0 to 1");
    expect(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "repetition_penalty",
           o.repetition_penalty, "above 0");
    expect(o.typical_p > 0 && o.typical_p <= 1, "typical_p", o.typical_p, "above 0 and at most 1");
    expect(std::isfinite(o.frequency_penalty), "frequency_penalty", o.frequency_penalty, "a finite number");
    expect(std::isfinite(o.presence_penalty), "presence_penalty", o.presence_penalty, "a finite number");
    for (const auto& [id, bias] : o.logit_bias) {
        expect(id >= 0, "logit_bias", id, "an id, 0 or more");
        expect(bias < std::numeric_limits<double>::infinity(), "logit_bias", bias,
               "a number, or minus infinity");
    }
    expect(o.repetition_window >= 0, "repetition_window", o.repetition_window, "0 or more");
}

TokenId sample(std::span<const float> logits, std::span<const TokenId> history,
               const SamplingOptions& options, Pcg32& random) {
    std::vector<float> changed;
    const bool penalizes_frequency = options.frequency_penalty != 0 || options.presence_penalty != 0;
    const bool penalizes =
        options.repetition_window > 0 && (options.repetition_penalty != 1 || penalizes_frequency);
    if (penalizes || !options.logit_bias.empty()) {
        changed.assign(logits.begin(), logits.end());
        const std::span<const TokenId> recent = window(history, options.repetition_window);
        if (options.repetition_penalty != 1) penalize_repetition(changed, recent, options.repetition_penalty);
        if (penalizes_frequency)
            penalize_frequency(changed, recent, options.frequency_penalty, options.presence_penalty);
        add_biases(changed, options);
        logits = changed;
    }
    const TokenId best = argmax(logits);
    if (options.temperature == 0) return best;
    if (const float largest = logits[static_cast<size_t>(best)]; !std::isfinite(largest))
        throw Error("", "", fmt::format("the largest logit is {}", largest),
                    "the weights may be damaged: compile the model again");

    std::vector<Candidate> candidates = weigh(logits, options.temperature);
    if (options.top_k > 0) keep_top_k(candidates, static_cast<size_t>(options.top_k));
    keep_top_p(candidates, options.top_p);
    keep_min_p(candidates, options.min_p);
    keep_typical(candidates, options.typical_p);
    return draw(candidates, random);
}

}  // namespace tessera::llm
