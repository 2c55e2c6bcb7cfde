#include "run/llm/perplexity.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::llm {
namespace {

TEST(Perplexity, OfEqualLogitsIsTheVocabulary) {
    Perplexity perplexity;
    for (TokenId id = 0; id < 4; ++id) perplexity.add(std::vector<float>{700, 700, 700, 700}, id);
    EXPECT_EQ(perplexity.count(), 4);
    EXPECT_NEAR(perplexity.value(), 4, 1e-12);
    EXPECT_NEAR(perplexity.error(), 0, 1e-6);
}

TEST(Perplexity, IsTheExponentialOfTheMeanSurprise) {
    const std::vector<float> logits = {0, std::log(3.F)};
    EXPECT_NEAR(surprise(logits, 0), std::log(4), 1e-7);
    EXPECT_NEAR(surprise(logits, 1), std::log(4. / 3), 1e-7);
    Perplexity perplexity;
    perplexity.add(logits, 0);
    EXPECT_EQ(perplexity.error(), 0);
    perplexity.add(logits, 1);
    EXPECT_NEAR(perplexity.value(), std::sqrt(4 * 4. / 3), 1e-6);
    EXPECT_NEAR(perplexity.error(), std::log(3) / 2 * perplexity.value(), 1e-6);
}

}  // namespace
}  // namespace tessera::llm
