#include "run/llm/batch_engine.h"

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/llm/generate.h"
#include "run/llm/session_fake.h"

namespace tessera::llm {
namespace {

using ::testing::HasSubstr;

/// An engine over the toy model's step, and what it told of each request.
struct EngineBench {
    struct Told {
        std::vector<TokenId> ids;
        std::vector<int64_t> positions;
        std::vector<BatchEnd> ends;
        uint64_t number = 0;
    };

    explicit EngineBench(const SessionOptions& session_options = {.context = 64, .sequences = 3},
                         const BatchOptions& batch_options = {.sequences = 3, .prompt_chunk = 5})
        : fake(toy, Session::state_symbols(toy.manifest(), session_options).at("P")),
          session(toy.manifest(), session_options, fake.function()),
          engine(session, batch_options) {}

    Told& submit(BatchRequest request) {
        told.push_back(std::make_unique<Told>());
        Told* of = told.back().get();
        request.on_token = [of, inner = request.on_token](TokenId id, std::span<const float> logits) {
            of->ids.push_back(id);
            return inner && inner(id, logits);
        };
        request.on_end = [of](const BatchEnd& end) { of->ends.push_back(end); };
        of->number = engine.submit(std::move(request));
        return *of;
    }
    void run() {
        for (int step = 0; engine.step(); ++step) ASSERT_LT(step, 10'000);
    }
    /// The same text by a session of its own.
    std::vector<TokenId> alone(const BatchRequest& request) const {
        FakeStep other(toy, 4);
        Session own(toy.manifest(), {.context = 64}, other.function());
        return generate(own, own.open(), request.prompt,
                        {.max_tokens = request.max_tokens,
                         .sampling = request.sampling,
                         .stop_ids = request.stop_ids})
            .ids;
    }

    runtime::ToyModel toy;
    FakeStep fake;
    Session session;
    BatchEngine engine;
    std::vector<std::unique_ptr<Told>> told;
};

std::vector<TokenId> some_prompt(std::mt19937& random, size_t most) {
    std::vector<TokenId> prompt(1 + random() % most);
    for (TokenId& id : prompt) id = static_cast<TokenId>(random() % 23);
    return prompt;
}

TEST(BatchEngine, ManyRequestsAnswerAsEachAlone) {
    EngineBench bench;
    std::mt19937 random(3);
    std::vector<BatchRequest> requests;
    std::vector<const EngineBench::Told*> told;
    for (int i = 0; i < 40; ++i) {
        BatchRequest request{.prompt = some_prompt(random, 30),
                             .max_tokens = static_cast<int64_t>(random() % 50)};
        if (i % 2 == 0) request.sampling = {.temperature = 1.5, .seed = random()};
        if (i % 3 == 0) request.stop_ids = {static_cast<TokenId>(random() % 23)};
        requests.push_back(request);
        told.push_back(&bench.submit(request));
        for (uint32_t steps = random() % 12; steps > 0; --steps) (void)bench.engine.step();
    }
    bench.run();
    for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(told[i]->ids, bench.alone(requests[i])) << "request " << i;
        ASSERT_EQ(told[i]->ends.size(), 1U);
        EXPECT_FALSE(told[i]->ends[0].fault);
        EXPECT_EQ(told[i]->ends[0].generated_tokens, static_cast<int64_t>(told[i]->ids.size()));
        const auto prompt = static_cast<int64_t>(requests[i].prompt.size());
        EXPECT_EQ(told[i]->ends[0].prompt_tokens + told[i]->ends[0].reused_tokens,
                  requests[i].max_tokens > 0 ? prompt : 0);
    }
    EXPECT_EQ(bench.engine.available_pages(), bench.session.pages());
}

TEST(BatchEngine, AStepHasATokenOfEachTextAndAChunkOfThePrompts) {
    EngineBench bench;
    bench.submit({.prompt = {1, 2, 3}, .max_tokens = 9});
    (void)bench.engine.step();
    bench.submit({.prompt = std::vector<TokenId>(12, 4), .max_tokens = 9});
    bench.submit({.prompt = std::vector<TokenId>(3, 5), .max_tokens = 9});
    bench.fake.forget_calls();
    for (int i = 0; i < 3; ++i) (void)bench.engine.step();
    ASSERT_EQ(bench.fake.calls().size(), 3U);
    EXPECT_EQ(bench.fake.calls()[0].length, (std::vector<int32_t>{1, 3, 2}));
    EXPECT_EQ(bench.fake.calls()[1].length, (std::vector<int32_t>{1, 1, 5}));
    EXPECT_EQ(bench.fake.calls()[2].length, (std::vector<int32_t>{1, 1, 5}));
}

TEST(BatchEngine, AShortPromptDoesNotWaitForALongOne) {
    EngineBench bench({.context = 64, .sequences = 3}, {.sequences = 3, .prompt_chunk = 4});
    const auto& longer = bench.submit({.prompt = std::vector<TokenId>(60, 4), .max_tokens = 2});
    (void)bench.engine.step();
    const auto& shorter = bench.submit({.prompt = std::vector<TokenId>(6, 5), .max_tokens = 2});
    for (int i = 0; i < 3; ++i) (void)bench.engine.step();  // half of each chunk
    EXPECT_EQ(shorter.ids.size(), 1U);
    EXPECT_TRUE(longer.ids.empty());
    bench.run();
    EXPECT_EQ(longer.ids.size(), 2U);
}

TEST(BatchEngine, GroupsLetOthersPass) {
    EngineBench bench({.context = 64, .sequences = 3}, {.sequences = 2});
    std::vector<int> ended;
    const auto submit = [&](int name, uint64_t group) {
        bench.engine.submit(
            {.prompt = {1, 2}, .group = group, .max_tokens = 3, .on_end = [&ended, name](const BatchEnd&) {
                 ended.push_back(name);
             }});
    };
    for (int i = 0; i < 4; ++i) submit(i, 7);
    submit(10, 8);
    submit(11, 0);
    bench.run();
    // One place each as soon as the other group is there, then what is left in the order of arrival.
    EXPECT_THAT(ended, ::testing::ElementsAre(0, 10, 1, 11, 2, 3));
}

TEST(BatchEngine, CancellingFreesThePagesWithinOneStep) {
    for (const int steps : {0, 1, 2, 9}) {
        EngineBench bench({.context = 64, .sequences = 3}, {.sequences = 3, .prompt_chunk = 5});
        const auto& first = bench.submit({.prompt = std::vector<TokenId>(20, 4), .max_tokens = 40});
        for (int i = 0; i < steps; ++i) ASSERT_TRUE(bench.engine.step());
        EXPECT_EQ(bench.engine.available_pages(), bench.session.pages() - (steps > 0 ? 4 : 0));
        bench.engine.cancel(first.number);
        bench.fake.forget_calls();
        EXPECT_FALSE(bench.engine.step());
        EXPECT_TRUE(bench.fake.calls().empty());
        ASSERT_EQ(first.ends.size(), 1U);
        EXPECT_EQ(first.ends[0].reason, StopReason::kInterrupted);
        EXPECT_FALSE(first.ends[0].is_late);
        EXPECT_EQ(bench.engine.available_pages(), bench.session.pages());
        bench.engine.cancel(first.number);  // has ended: nothing happens
    }
}

TEST(BatchEngine, ARequestWaitsForThePagesOfItsLongestText) {
    // Five pages: two texts of two pages run, and the third waits although a sequence is free.
    EngineBench bench({.context = 64, .sequences = 3, .cached = 80}, {.sequences = 3, .prompt_chunk = 8});
    ASSERT_EQ(bench.session.pages(), 5);
    for (int i = 0; i < 3; ++i) bench.submit({.prompt = {1, 2, 3}, .max_tokens = 25});
    (void)bench.engine.step();
    EXPECT_EQ(bench.engine.running(), 2);
    EXPECT_EQ(bench.engine.waiting(), 1);
    bench.run();
    for (const auto& told : bench.told) EXPECT_EQ(told->ids.size(), 25U);
}

TEST(BatchEngine, LateRequestsEnd) {
    EngineBench bench;
    const auto now = BatchEngine::Clock::now();
    const auto& late = bench.submit({.prompt = {1}, .max_tokens = 9, .deadline = now});
    const auto& early =
        bench.submit({.prompt = {1}, .max_tokens = 9, .deadline = now + std::chrono::hours(1)});
    bench.run();
    EXPECT_TRUE(late.ends.at(0).is_late);
    EXPECT_TRUE(late.ids.empty());
    EXPECT_EQ(early.ids.size(), 9U);
}

TEST(BatchEngine, PromptsThatBeginAlikeAreReadOnce) {
    const std::vector<TokenId> base(40, 7);
    for (const bool reuse : {true, false}) {
        EngineBench bench({.context = 64, .sequences = 3, .kept = 3},
                          {.sequences = 3, .reuse_prefix = reuse});
        bench.submit({.prompt = base, .max_tokens = 4});
        bench.run();
        std::vector<TokenId> longer = base;
        longer.insert(longer.end(), {1, 2, 3});
        const auto& second = bench.submit({.prompt = longer, .max_tokens = 4});
        const auto& third = bench.submit({.prompt = {9, 9, 9}, .max_tokens = 4});
        bench.run();
        EXPECT_EQ(second.ends[0].reused_tokens, reuse ? 32 : 0);  // the pages that are full
        EXPECT_EQ(third.ends[0].reused_tokens, 0);
        EXPECT_EQ(second.ids, bench.alone({.prompt = longer, .max_tokens = 4}));
    }
}

TEST(BatchEngine, TalksThatBeginAlikeAreKeptEach) {
    const std::vector<TokenId> system(33, 7);
    EngineBench bench({.context = 64, .sequences = 3, .kept = 8}, {.sequences = 3});
    std::vector<std::vector<TokenId>> talks(3, system);
    std::vector<size_t> before(3);
    for (int turn = 0; turn < 3; ++turn)
        for (size_t talk = 0; talk < talks.size(); ++talk) {
            talks[talk].insert(talks[talk].end(), {static_cast<TokenId>(talk), 1, 2});
            const BatchRequest request{.prompt = talks[talk], .max_tokens = 4};
            const auto& told = bench.submit(request);
            bench.run();
            EXPECT_EQ(told.ids, bench.alone(request));
            const int64_t alike = turn > 0 ? static_cast<int64_t>(before[talk]) : talk > 0 ? 32 : 0;
            EXPECT_EQ(told.ends[0].reused_tokens, alike) << turn << " " << talk;
            talks[talk].insert(talks[talk].end(), told.ids.begin(), told.ids.end());
            before[talk] = talks[talk].size() - 1;  // nobody asked what follows the last one
        }
    EXPECT_EQ(bench.engine.available_pages(), bench.session.pages());
}

/// Random talks over few pages: sharing, taking over, cutting and giving way in every order.
TEST(BatchEngine, SharedPagesAreNeverWritten) {
    for (const int64_t kept : {0, 2, 16}) {
        EngineBench bench({.context = 64, .sequences = 3, .cached = 160, .kept = kept}, {.sequences = 3});
        std::mt19937 random(5);
        std::vector<std::vector<TokenId>> texts = {std::vector<TokenId>(20, 3)};
        for (int i = 0; i < 150; ++i) {
            std::vector<TokenId> prompt = texts[random() % texts.size()];
            prompt.resize(std::min<size_t>(1 + random() % 60, prompt.size()));
            for (uint32_t more = random() % 20; more > 0 && prompt.size() < 60; --more)
                prompt.push_back(static_cast<TokenId>(random() % 3));
            const BatchRequest request{.prompt = prompt, .max_tokens = static_cast<int64_t>(random() % 20)};
            const auto& told = bench.submit(request);
            for (uint32_t steps = random() % 9; steps > 0; --steps) (void)bench.engine.step();
            if (i % 4 == 0) {
                bench.run();
                EXPECT_EQ(told.ids, bench.alone(request)) << i;
            }
            texts.push_back(prompt);
        }
        bench.run();
    }
}

TEST(BatchEngine, KeptPrefixesGiveWay) {
    EngineBench bench({.context = 64, .sequences = 3, .cached = 80}, {.sequences = 3});
    std::mt19937 random(11);
    for (int i = 0; i < 50; ++i) {
        const BatchRequest request{.prompt = some_prompt(random, 40), .max_tokens = 20};
        const auto& told = bench.submit(request);
        bench.run();
        EXPECT_EQ(told.ids, bench.alone(request));
    }
}

TEST(BatchEngine, ReportsEveryTokenOfThePrompt) {
    EngineBench bench;
    const std::vector<TokenId> prompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    const std::vector<float> expected = bench.toy.logits(prompt);
    for (int repetition = 0; repetition < 2; ++repetition) {
        std::vector<float> found;
        bench.submit(
            {.prompt = prompt, .max_tokens = 0, .on_prompt = [&](int64_t, std::span<const float> logits) {
                 found.insert(found.end(), logits.begin(), logits.end());
             }});
        bench.run();
        EXPECT_EQ(found, expected);
    }
}

TEST(BatchEngine, RefusesWhatItCannotCompute) {
    EngineBench bench;
    const auto problem = [&](BatchRequest request) -> std::string {
        try {
            bench.engine.submit(std::move(request));
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(problem({.prompt = {}}), HasSubstr("empty prompt"));
    EXPECT_THAT(problem({.prompt = {1, 23}}), HasSubstr("token 23 is not of the vocabulary of 23"));
    EXPECT_THAT(problem({.prompt = std::vector<TokenId>(65, 1)}),
                HasSubstr("a prompt of 65 tokens does not fit into the context of 64"));
    EXPECT_THAT(problem({.prompt = {1}, .sampling = {.temperature = -1}}), HasSubstr("temperature"));
    EXPECT_THROW(BatchEngine(bench.session, {.sequences = 4}), Error);
    EXPECT_EQ(bench.engine.waiting(), 0);
}

TEST(BatchEngine, TextsEndAtTheContextAndWhereTheirOwnersSay) {
    EngineBench bench;
    const auto& full = bench.submit({.prompt = std::vector<TokenId>(60, 1), .max_tokens = 100});
    const auto& ended = bench.submit(
        {.prompt = {1, 2}, .max_tokens = 100, .on_token = [n = 0](auto, auto) mutable { return ++n == 3; }});
    bench.run();
    EXPECT_EQ(full.ends[0].reason, StopReason::kContext);
    EXPECT_EQ(full.ids.size(), 5U);
    EXPECT_EQ(ended.ends[0].reason, StopReason::kStopString);
    EXPECT_EQ(ended.ids.size(), 3U);
}

/// The sums h that the logits of the toy follow from: the most probable tokens.
std::vector<float> sums_of(const runtime::ToyModel& toy, std::span<const TokenId> ids) {
    std::vector<float> sums;
    int64_t sum = 0;
    for (size_t s = 0; s < ids.size(); ++s) {
        sum += (ids[s] + 1) * static_cast<int64_t>(s + 1);
        sums.push_back(static_cast<float>(sum % toy.vocabulary));
    }
    return sums;
}

TEST(BatchEngine, TellsTheHiddenStatesThatAPoolingTakes) {
    const runtime::ToyModel toy;
    const SessionOptions options{.context = 64, .sequences = 3};
    const runtime::Manifest manifest = FakeStep::manifest_with_hidden(toy);
    FakeStep fake(toy, Session::state_symbols(manifest, options).at("P"), true);
    Session session(manifest, options, fake.function());
    EXPECT_EQ(session.hidden_width(), 1);
    BatchEngine engine(session, {.sequences = 3, .prompt_chunk = 5});
    std::vector<TokenId> prompt;
    for (TokenId i = 0; i < 29; ++i) prompt.push_back(i * i % 23);
    const std::vector<float> expected = sums_of(toy, prompt);
    // The second time the prompt is known, of which the mean takes all again.
    for (const Pooling pooling : {Pooling::kMean, Pooling::kLast, Pooling::kMean, Pooling::kLast})
        for (const int64_t tokens : {0, 4}) {
            std::map<int64_t, float> told;
            std::vector<TokenId> ids;
            int64_t ends = 0;
            BatchRequest request{.prompt = prompt, .max_tokens = tokens, .pooling = pooling};
            request.on_hidden = [&](int64_t position, std::span<const float> hidden) {
                ASSERT_EQ(hidden.size(), 1U);
                EXPECT_TRUE(told.emplace(position, hidden.front()).second) << position;
            };
            request.on_token = [&](TokenId id, std::span<const float>) {
                ids.push_back(id);
                return false;
            };
            request.on_end = [&](const BatchEnd& end) {
                EXPECT_FALSE(end.fault);
                ++ends;
            };
            engine.submit(std::move(request));
            engine.submit({.prompt = {1, 2}, .max_tokens = 3});
            while (engine.step()) {
            }
            EXPECT_EQ(ends, 1);
            EXPECT_EQ(static_cast<int64_t>(ids.size()), tokens);
            ASSERT_EQ(told.size(), pooling == Pooling::kMean ? prompt.size() : 1U);
            for (const auto& [position, sum] : told)
                EXPECT_EQ(sum, expected[static_cast<size_t>(position)]) << position;
            EXPECT_EQ(told.rbegin()->first, static_cast<int64_t>(prompt.size()) - 1);
        }
}

TEST(BatchEngine, AFaultOfHiddenStatesEndsItsTextAlone) {
    const runtime::ToyModel toy;
    const SessionOptions options{.context = 64, .sequences = 3};
    FakeStep fake(toy, 12, true);
    Session session(FakeStep::manifest_with_hidden(toy), options, fake.function());
    BatchEngine engine(session, {.sequences = 3, .prompt_chunk = 2});
    std::optional<BatchEnd> faulty, other;
    BatchRequest request{.prompt = {1, 2, 3, 4, 5}, .max_tokens = 0};
    request.on_hidden = [](int64_t, std::span<const float>) { throw Error("", "", "no numbers"); };
    request.on_end = [&](const BatchEnd& end) { faulty = end; };
    engine.submit(std::move(request));
    engine.submit({.prompt = {1, 2}, .max_tokens = 3, .on_end = [&](const BatchEnd& end) { other = end; }});
    while (engine.step()) {
    }
    ASSERT_TRUE(faulty && faulty->fault && other);
    EXPECT_FALSE(other->fault);
    EXPECT_EQ(other->generated_tokens, 3);
    EXPECT_EQ(engine.available_pages(), session.pages());
}

TEST(BatchEngine, RefusesHiddenStatesThatTheStepDoesNotGive) {
    EngineBench bench;
    BatchRequest request{.prompt = {1}, .on_hidden = [](int64_t, std::span<const float>) {}};
    try {
        bench.engine.check(request);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("was compiled without embeddings"));
        EXPECT_EQ(error.kind, ErrorKind::kUsage);
    }
}

}  // namespace
}  // namespace tessera::llm
