#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "llm/session.h"
#include "tessera/embedding.h"

namespace tessera::llm {

/// @throws Error (kUsage) if the step of the session does not give hidden states
void expect_hidden(const Session& session);

/// The rows of an addition whose hidden states a pooling takes.
std::vector<int32_t> pooled_rows(std::span<const int32_t> tokens, Pooling pooling);

/// Makes one vector of the hidden states of a text, summed in double precision.
class HiddenPool {
public:
    explicit HiddenPool(const EmbedOptions& options) : options_(options) {}

    /// One that the pooling takes. All have the same width.
    void add(std::span<const float> hidden);
    /// @pre one was added. @throws Error if a sum is no finite number
    std::vector<float> finish() const;

private:
    EmbedOptions options_;
    int64_t count_ = 0;
    std::vector<double> sum_;
};

}  // namespace tessera::llm
