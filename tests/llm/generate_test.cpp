#include "llm/generate.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "llm/session_fake.h"
#include "support/error.h"

namespace tessera {
namespace {

TEST(Argmax, LowestIdOnTies) {
    EXPECT_EQ(argmax(std::vector<float>{1, 3, 2, 3}), 1);
    EXPECT_EQ(argmax(std::vector<float>{-INFINITY, -INFINITY}), 0);
    EXPECT_EQ(argmax(std::vector<float>{-1}), 0);
}

TEST(Argmax, NotANumber) {
    EXPECT_THROW(argmax(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}), Error);
}

struct Generated {
    Generation generation;
    std::vector<TokenId> streamed;
    int64_t length;
};

Generated generate(const ToyModel& toy, const std::vector<TokenId>& prompt, const GenerateOptions& options,
                   int64_t context = 0) {
    FakeStep fake(toy, 8);
    Session session(toy.manifest(), {.context = context}, fake.function());
    const SequenceId sequence = session.open();
    Generated result;
    result.generation =
        generate(session, sequence, prompt, options, [&](TokenId id) { result.streamed.push_back(id); });
    result.length = session.length(sequence);
    return result;
}

std::vector<TokenId> naive(const ToyModel& toy, std::vector<TokenId> tokens, size_t count) {
    const size_t prompt = tokens.size();
    for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(toy.answer(tokens)));
    return {tokens.begin() + static_cast<int64_t>(prompt), tokens.end()};
}

TEST(Generate, FollowsTheModel) {
    const ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4, 3, 2, 1, 0, 9, 8, 7, 6};
    const Generated result = generate(toy, prompt, {.max_tokens = 40});
    EXPECT_EQ(result.generation.ids, naive(toy, prompt, 40));
    EXPECT_EQ(result.streamed, result.generation.ids);
    EXPECT_EQ(result.generation.reason, StopReason::kMaxTokens);
    EXPECT_EQ(result.generation.statistics.prompt_tokens, 10);
    EXPECT_EQ(result.generation.statistics.decode_steps, 39);
    EXPECT_EQ(result.length, 10 + 39) << "the last token is not computed for";
}

TEST(Generate, StopsBeforeAStopToken) {
    const ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    const std::vector<TokenId> all = naive(toy, prompt, 40);
    const Generated result = generate(toy, prompt, {.max_tokens = 40, .stop = {22, all[6]}});
    const auto first =
        std::find_if(all.begin(), all.end(), [&](TokenId id) { return id == 22 || id == all[6]; });
    EXPECT_EQ(result.generation.ids, std::vector<TokenId>(all.begin(), first));
    EXPECT_EQ(result.streamed, result.generation.ids);
    EXPECT_EQ(result.generation.reason, StopReason::kStopToken);
}

TEST(Generate, EndsWithTheContext) {
    const ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    const Generated result = generate(toy, prompt, {.max_tokens = 1000}, 20);
    EXPECT_EQ(result.generation.ids, naive(toy, prompt, 19))
        << "one more than fits, since nothing follows it";
    EXPECT_EQ(result.generation.reason, StopReason::kContext);
}

TEST(Generate, NothingWanted) {
    const Generated result = generate(ToyModel(), {5, 4}, {.max_tokens = 0});
    EXPECT_TRUE(result.generation.ids.empty());
    EXPECT_EQ(result.length, 0);
}

}  // namespace
}  // namespace tessera
