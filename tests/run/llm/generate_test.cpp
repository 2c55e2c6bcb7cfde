#include "run/llm/generate.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/llm/session_fake.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

struct Generated {
    Generation generation;
    std::vector<TokenId> streamed;
    int64_t length;
};

Generated generate(const runtime::ToyModel& toy, const std::vector<TokenId>& prompt, GenerateOptions options,
                   int64_t context = 0) {
    FakeStep fake(toy, 8);
    Session session(toy.manifest(), {.context = context}, fake.function());
    const SequenceId sequence = session.open();
    Generated result;
    options.on_token = [&](TokenId id) { result.streamed.push_back(id); };
    result.generation = generate(session, sequence, prompt, options);
    result.length = session.length(sequence);
    return result;
}

std::vector<TokenId> naive(const runtime::ToyModel& toy, std::vector<TokenId> tokens, size_t count) {
    const size_t prompt = tokens.size();
    for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>(toy.answer(tokens)));
    return {tokens.begin() + static_cast<int64_t>(prompt), tokens.end()};
}

TEST(Generate, FollowsTheModel) {
    const runtime::ToyModel toy;
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
    const runtime::ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    const std::vector<TokenId> all = naive(toy, prompt, 40);
    const Generated result = generate(toy, prompt, {.max_tokens = 40, .stop_ids = {22, all[6]}});
    const auto first =
        std::find_if(all.begin(), all.end(), [&](TokenId id) { return id == 22 || id == all[6]; });
    EXPECT_EQ(result.generation.ids, std::vector<TokenId>(all.begin(), first));
    EXPECT_EQ(result.streamed, result.generation.ids);
    EXPECT_EQ(result.generation.reason, StopReason::kStopId);
}

TEST(Generate, EndsWithTheContext) {
    const runtime::ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    const Generated result = generate(toy, prompt, {.max_tokens = 1000}, 20);
    EXPECT_EQ(result.generation.ids, naive(toy, prompt, 19))
        << "one more than fits, since nothing follows it";
    EXPECT_EQ(result.generation.reason, StopReason::kContext);
}

TEST(Generate, SamplesFromTheLogitsAfterItsOwnText) {
    const runtime::ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    const SamplingOptions sampling{.temperature = 0.7, .top_k = 5, .repetition_penalty = 1.3, .seed = 9};
    std::vector<TokenId> history = prompt;
    Pcg32 random(sampling.seed);
    for (int i = 0; i < 40; ++i) {
        const std::vector<float> all = toy.logits(history);
        history.push_back(sample(std::span(all).last(23), history, sampling, random));
    }
    const Generated result = generate(toy, prompt, {.max_tokens = 40, .sampling = sampling});
    EXPECT_EQ(result.generation.ids, std::vector<TokenId>(history.begin() + 2, history.end()));
    EXPECT_NE(result.generation.ids, naive(toy, prompt, 40)) << "or the test would not show anything";
}

TEST(Generate, IsInterruptedBetweenSteps) {
    const runtime::ToyModel toy;
    const std::vector<TokenId> prompt = {5, 4};
    int asked = 0;
    const Generated result =
        generate(toy, prompt, {.max_tokens = 40, .should_stop = [&] { return ++asked > 4; }});
    EXPECT_EQ(result.generation.ids, naive(toy, prompt, 4));
    EXPECT_EQ(result.generation.reason, StopReason::kInterrupted);
    EXPECT_EQ(result.generation.statistics.decode_steps, 3);
    EXPECT_EQ(result.length, 2 + 3);
}

TEST(Generate, IsInterruptedInTheMiddleOfAPrompt) {
    const runtime::ToyModel toy;
    const std::vector<TokenId> prompt(30, 1);
    int asked = 0;
    const Generated result =
        generate(toy, prompt, {.max_tokens = 40, .should_stop = [&] { return ++asked > 2; }});
    EXPECT_TRUE(result.generation.ids.empty());
    EXPECT_EQ(result.generation.reason, StopReason::kInterrupted);
    EXPECT_EQ(result.generation.statistics.prompt_tokens, 2 * toy.longest_step);
    EXPECT_EQ(result.length, 2 * toy.longest_step);
}

TEST(Generate, RefusesOptionsOutsideTheirRange) {
    EXPECT_THROW(generate(runtime::ToyModel(), {5}, {.sampling = {.top_p = 0}}), Error);
}

TEST(Generate, NothingWanted) {
    const Generated result = generate(runtime::ToyModel(), {5, 4}, {.max_tokens = 0});
    EXPECT_TRUE(result.generation.ids.empty());
    EXPECT_EQ(result.length, 0);
}

}  // namespace
}  // namespace tessera::llm
