#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/generate.h"

namespace tessera::llm {
namespace {

/// For every token of a prompt from `from` on, 0 where a long step computes it, otherwise the size of the
/// step.
std::vector<int64_t> kinds(int64_t from, int64_t prompt, const PromptSteps& steps) {
    std::vector<int64_t> result;
    for (int64_t begin = from; begin < prompt;) {
        const int64_t end = std::min(prompt, (begin / steps.segment + 1) * steps.segment);
        result.insert(result.end(), static_cast<size_t>(end - begin),
                      end - begin > steps.small ? 0 : end - begin);
        begin = end;
    }
    return result;
}

TEST(KeptSequence, EveryTokenIsComputedByTheCodeThatAFreshPromptWouldUse) {
    for (const PromptSteps steps : {PromptSteps{1, 0}, {1, 1}, {8, 0}, {8, 1}, {8, 4}, {7, 7}, {16, 4}})
        for (int64_t before = 1; before < 40; ++before)
            for (int64_t prompt = 1; prompt < 40; ++prompt)
                for (int64_t alike = 0; alike <= std::min(prompt, lasting_length(before, steps)); ++alike) {
                    const int64_t held = reused_length(alike, prompt, steps);
                    ASSERT_GE(held, 0);
                    ASSERT_LE(held, alike);
                    ASSERT_LT(held, prompt);
                    std::vector<int64_t> got = kinds(0, before, steps);
                    got.resize(static_cast<size_t>(held));
                    const std::vector<int64_t> rest = kinds(held, prompt, steps);
                    got.insert(got.end(), rest.begin(), rest.end());
                    ASSERT_EQ(got, kinds(0, prompt, steps)) << before << " " << prompt << " " << alike;
                }
}

TEST(KeptSequence, MostOfALongPromptIsUsedAgain) {
    EXPECT_EQ(reused_length(100, 120, {512, 4}), 100);
    EXPECT_EQ(reused_length(100, 102, {512, 4}), 97);
    EXPECT_EQ(reused_length(600, 700, {512, 4}), 600);
    EXPECT_EQ(reused_length(513, 514, {512, 4}), 512);
    EXPECT_EQ(lasting_length(514, {512, 4}), 512);
    EXPECT_EQ(lasting_length(100, {512, 4}), 100);
}

}  // namespace
}  // namespace tessera::llm
