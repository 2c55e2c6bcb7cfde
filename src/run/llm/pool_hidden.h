#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/llm/session.h"
#include "run/runtime/manifest.h"
#include "tessera/embedding.h"

namespace tessera::llm {

/// The complete form of an embedding.
struct EmbeddingForm {
    Pooling pooling = Pooling::kMean;
    bool normalise = true;
};

/// The options, with the model's values for what they leave open.
/// @throws Error (kUsage) if the result cannot be computed
EmbeddingForm embedding_form(const EmbedOptions& options, const runtime::Manifest& manifest);

/// @throws Error (kUsage) if the model is an encoder, which has no logits
void expect_logits(const Session& session);
/// @throws Error (kUsage) if the step of the session does not give hidden states
void expect_hidden(const Session& session);

/// The rows of an addition, a whole text, whose hidden states a pooling takes.
std::vector<int32_t> pooled_rows(std::span<const int32_t> tokens, Pooling pooling);

/// Pools the hidden states of a text to one vector, with sums in double precision.
class HiddenPool {
public:
    explicit HiddenPool(const EmbeddingForm& form) : form_(form) {}

    /// Adds the next hidden state that the pooling takes, or the next of all. All have the same width.
    void add(std::span<const float> hidden);
    /// @pre one was added. @throws Error if a sum is not finite
    std::vector<float> finish() const;

private:
    double divisor() const;

    EmbeddingForm form_;
    int64_t count_ = 0;
    std::vector<double> sum_;
};

}  // namespace tessera::llm
