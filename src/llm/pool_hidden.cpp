#include "llm/pool_hidden.h"

#include <cmath>

#include "support/error.h"

namespace tessera::llm {

void expect_hidden(const Session& session) {
    if (session.hidden_width() == 0)
        throw Error(session.manifest().model, "", "was compiled without embeddings",
                    "compile the model again with --embeddings (in programs: CompileSettings::embeddings)",
                    ErrorKind::kUsage);
}

std::vector<int32_t> pooled_rows(std::span<const int32_t> tokens, Pooling pooling) {
    return pooling == Pooling::kMean ? every_row(tokens) : last_row(tokens);
}

void HiddenPool::add(std::span<const float> hidden) {
    if (count_++ == 0) sum_.resize(hidden.size());
    TESSERA_CHECK(hidden.size() == sum_.size(), "{} of {}", hidden.size(), sum_.size());
    for (size_t i = 0; i < hidden.size(); ++i) sum_[i] += hidden[i];
}

std::vector<float> HiddenPool::finish() const {
    TESSERA_CHECK(count_ > 0);
    double squares = 0;
    for (const double value : sum_) squares += value * value;
    if (!std::isfinite(squares))
        throw Error("", "", "the hidden states are no numbers",
                    "the weights may be damaged: compile the model again");
    const double length = std::sqrt(squares);
    const double divisor = options_.normalise && length > 0 ? length : static_cast<double>(count_);
    std::vector<float> pooled;
    for (const double value : sum_) pooled.push_back(static_cast<float>(value / divisor));
    return pooled;
}

}  // namespace tessera::llm
