#include "run/llm/argmax.h"

#include <cmath>

#include "support/error.h"

namespace tessera::llm {

TokenId argmax(std::span<const float> logits) {
    TESSERA_CHECK(!logits.empty());
    size_t best = 0;
    for (size_t i = 0; i < logits.size(); ++i) {
        if (std::isnan(logits[i]))
            throw Error("", "", fmt::format("the logit of token {} is not a number", i),
                        "the weights may be damaged: compile the model again");
        if (logits[i] > logits[best]) best = i;
    }
    return static_cast<TokenId>(best);
}

}  // namespace tessera::llm
