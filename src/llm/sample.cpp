#include "llm/sample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "llm/argmax.h"
#include "llm/candidates.h"
#include "llm/repetition_penalty.h"
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

}  // namespace

void check(const SamplingOptions& o) {
    // Written so that NaN fails too.
    expect(o.temperature >= 0 && std::isfinite(o.temperature), "temperature", o.temperature, "0 or more");
    expect(o.top_k >= 0, "top_k", o.top_k, "0 or more");
    expect(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "above 0 and at most 1");
    expect(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "0 to 1");
    expect(o.repetition_penalty > 0 && std::isfinite(o.repetition_penalty), "repetition_penalty",
           o.repetition_penalty, "above 0");
    expect(o.repetition_window >= 0, "repetition_window", o.repetition_window, "0 or more");
}

TokenId sample(std::span<const float> logits, std::span<const TokenId> history,
               const SamplingOptions& options, Pcg32& random) {
    std::vector<float> penalized;
    if (options.repetition_penalty != 1 && options.repetition_window > 0) {
        penalized.assign(logits.begin(), logits.end());
        penalize_repetition(penalized, window(history, options.repetition_window),
                            options.repetition_penalty);
        logits = penalized;
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
    return draw(candidates, random);
}

}  // namespace tessera::llm
