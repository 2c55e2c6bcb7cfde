#include "run/llm/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "run/llm/argmax.h"
#include "run/llm/candidates.h"
#include "run/llm/repetition_penalty.h"
#include "support/error.h"

namespace tessera::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Argmax, LowestIdOnTies) {
    EXPECT_EQ(argmax(std::vector<float>{1, 3, 2, 3}), 1);
    EXPECT_EQ(argmax(std::vector<float>{-INFINITY, -INFINITY}), 0);
    EXPECT_EQ(argmax(std::vector<float>{-1}), 0);
}

TEST(Argmax, NotANumber) {
    EXPECT_THROW(argmax(std::vector<float>{1, kNan}), Error);
}

TEST(Pcg32, GivesThePublishedNumbers) {
    // The output of pcg32-demo of the reference implementation, seed 42, stream 54, round 1.
    Pcg32 random(42, 54);
    for (const uint32_t expected :
         {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u, 0x83d2f293u, 0xbfa4784bu, 0xcbed606eu})
        EXPECT_EQ(random.next(), expected);
}

TEST(Pcg32, FractionsAreOfFiftyThreeBits) {
    Pcg32 random(42, 54);
    EXPECT_EQ(random.next_fraction(),
              (static_cast<double>(0xa15c02b7u >> 5) * 0x1p26 + (0x7b47f409u >> 6)) * 0x1p-53);
    double least = 1, most = 0, sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double fraction = random.next_fraction();
        least = std::min(least, fraction);
        most = std::max(most, fraction);
        sum += fraction;
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(most, 1);
    EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(RepetitionPenalty, DividesPositiveAndMultipliesOtherLogitsOnce) {
    std::vector<float> logits = {2, -2, 0, 4};
    penalize_repetition(logits, std::vector<TokenId>{1, 0, 1, 0, 2, 77, -1}, 2);
    EXPECT_THAT(logits, ElementsAre(1, -4, 0, 4));
}

TEST(FrequencyPenalty, CountsAndPresenceDoesNot) {
    std::vector<float> logits = {2, -2, 0, 4};
    penalize_frequency(logits, std::vector<TokenId>{1, 0, 1, 0, 1, 2, 77, -1}, 0.5, 0.25);
    EXPECT_THAT(logits, ElementsAre(0.75F, -3.75F, -0.75F, 4));
    penalize_frequency(logits, std::vector<TokenId>{3}, -1, 0);
    EXPECT_EQ(logits[3], 5);
}

std::vector<TokenId> ids(const std::vector<Candidate>& candidates) {
    std::vector<TokenId> result;
    for (const Candidate& candidate : candidates) result.push_back(candidate.id);
    return result;
}

std::vector<Candidate> candidates(const std::vector<double>& weights) {
    std::vector<Candidate> result;
    for (size_t i = 0; i < weights.size(); ++i) result.push_back({static_cast<TokenId>(i), weights[i]});
    return result;
}

TEST(Candidates, WeightsAreRatiosOfProbabilities) {
    const auto weighed = weigh(std::vector<float>{1, 3, -INFINITY, 2}, 0.5);
    EXPECT_EQ(ids(weighed), (std::vector<TokenId>{0, 1, 2, 3}));
    EXPECT_DOUBLE_EQ(weighed[0].weight, std::exp(-4));
    EXPECT_EQ(weighed[1].weight, 1);
    EXPECT_EQ(weighed[2].weight, 0);
    EXPECT_DOUBLE_EQ(weighed[3].weight, std::exp(-2));
}

TEST(Candidates, TopKTakesTheLowerIdOfEquals) {
    auto some = candidates({0.5, 1, 0.5, 0.25, 0.5});
    keep_top_k(some, 3);
    EXPECT_EQ(ids(some), (std::vector<TokenId>{1, 0, 2}));
    keep_top_k(some, 10);
    EXPECT_EQ(some.size(), 3U);
}

TEST(Candidates, TopPKeepsTheFewestThatReachTheMass) {
    const std::vector<double> tenths = {0.1, 0.4, 0.2, 0.3};
    const std::pair<double, std::vector<TokenId>> expected[] = {
        {1e-9, {1}}, {0.39, {1}}, {0.41, {1, 3}}, {0.69, {1, 3}}, {0.71, {1, 3, 2}}, {0.95, {1, 3, 2, 0}}};
    for (const auto& [mass, kept] : expected) {
        auto some = candidates(tenths);
        keep_top_p(some, mass);
        EXPECT_EQ(ids(some), kept) << mass;
    }
    auto all = candidates(tenths);
    keep_top_p(all, 1);
    EXPECT_EQ(all, candidates(tenths));
}

TEST(Candidates, TypicalPKeepsTheSurprisesNearTheEntropy) {
    // Probabilities 0.5, 0.25, 0.125, 0.125: surprises of 1, 2, 3 and 3 bits, whose mean is 1.75.
    const std::vector<double> halves = {1, 0.5, 0.25, 0.25};
    const std::pair<double, std::vector<TokenId>> expected[] = {
        {1e-9, {1}}, {0.25, {1}}, {0.26, {1, 0}}, {0.75, {1, 0}}, {0.76, {1, 0, 2}}, {0.9, {1, 0, 2, 3}}};
    for (const auto& [mass, kept] : expected) {
        auto some = candidates(halves);
        keep_typical(some, mass);
        EXPECT_EQ(ids(some), kept) << mass;
    }
    auto all = candidates(halves);
    keep_typical(all, 1);
    EXPECT_EQ(all, candidates(halves));
    auto with_zero = candidates({0, 1, 0});
    keep_typical(with_zero, 0.5);
    EXPECT_EQ(ids(with_zero), (std::vector<TokenId>{1}));
}

TEST(Sample, BiasesAndPenaltiesAlsoMoveTheGreedyChoice) {
    Pcg32 random(1);
    const std::vector<float> logits = {1, 3, 2};
    const std::vector<TokenId> history = {1, 1, 2};
    EXPECT_EQ(sample(logits, history, {.logit_bias = {{0, 5}}}, random), 0);
    EXPECT_EQ(sample(logits, history, {.logit_bias = {{1, -INFINITY}}}, random), 2);
    EXPECT_EQ(sample(logits, history, {.frequency_penalty = 1}, random), 0);
    EXPECT_EQ(sample(logits, history, {.presence_penalty = 3}, random), 0);
    EXPECT_EQ(sample(logits, history, {.repetition_window = 1, .frequency_penalty = 5}, random), 1);
    EXPECT_EQ(sample(logits, history, {.repetition_window = 0, .presence_penalty = 9}, random), 1);
    EXPECT_THROW(sample(logits, history, {.logit_bias = {{3, 1}}}, random), Error);
    EXPECT_THROW(check({.typical_p = 0}), Error);
    EXPECT_THROW(check({.frequency_penalty = kNan}), Error);
    EXPECT_THROW(check({.logit_bias = {{0, INFINITY}}}), Error);
}

TEST(Candidates, MinPIsRelativeToTheLargest) {
    auto some = candidates({0.2, 0.8, 0.4, 0.39});
    keep_min_p(some, 0.5);
    EXPECT_EQ(ids(some), (std::vector<TokenId>{1, 2}));
    keep_min_p(some, 1);
    EXPECT_EQ(ids(some), (std::vector<TokenId>{1}));
}

/// Sampling in so many words: probabilities, sorted, cut, renormalised after every cut.
std::map<TokenId, double> distribution(std::vector<float> logits, const SamplingOptions& o) {
    std::vector<std::pair<double, TokenId>> sorted;
    for (size_t i = 0; i < logits.size(); ++i)
        sorted.emplace_back(-std::exp(static_cast<double>(logits[i]) / o.temperature),
                            static_cast<TokenId>(i));
    std::sort(sorted.begin(), sorted.end());
    const auto normalize = [&] {
        const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0,
                                           [](double total, const auto& item) { return total - item.first; });
        for (auto& item : sorted) item.first /= sum;
    };
    normalize();
    if (o.top_k > 0) sorted.resize(std::min(sorted.size(), static_cast<size_t>(o.top_k)));
    normalize();
    double before = 0;
    size_t kept = 0;
    for (; kept < sorted.size() && (kept == 0 || before < o.top_p); ++kept) before -= sorted[kept].first;
    sorted.resize(kept);
    normalize();
    const double least = o.min_p * -sorted.front().first;
    std::erase_if(sorted, [&](const auto& item) { return -item.first < least; });
    normalize();
    std::map<TokenId, double> result;
    for (const auto& [probability, id] : sorted) result[id] = -probability;
    return result;
}

TEST(Sample, FollowsTheDistribution) {
    std::mt19937 engine(5);
    const SamplingOptions several[] = {{.temperature = 1},
                                       {.temperature = 0.6, .top_k = 5},
                                       {.temperature = 1.5, .top_p = 0.8},
                                       {.temperature = 1.2, .min_p = 0.2},
                                       {.temperature = 0.9, .top_k = 9, .top_p = 0.9, .min_p = 0.1}};
    for (const SamplingOptions& options : several) {
        std::vector<float> logits(20);
        for (float& logit : logits) logit = static_cast<float>(engine() % 1000) / 250.0F;
        const auto expected = distribution(logits, options);
        std::map<TokenId, double> drawn;
        Pcg32 random(options.seed);
        constexpr int kDraws = 40000;
        for (int i = 0; i < kDraws; ++i) drawn[sample(logits, {}, options, random)] += 1.0 / kDraws;
        for (const auto& [id, frequency] : drawn) EXPECT_TRUE(expected.contains(id)) << id;
        // Five standard deviations; the draws are always the same ones.
        for (const auto& [id, probability] : expected)
            EXPECT_NEAR(drawn[id], probability, 5 * std::sqrt(probability / kDraws)) << id;
    }
}

TEST(Sample, IsAFunctionOfTheStateOfTheGenerator) {
    const std::vector<float> logits = {1, 2, 3, 2.5, 0, 1.5};
    const SamplingOptions options{.temperature = 1};
    std::vector<TokenId> texts[3];
    for (int run = 0; run < 3; ++run) {
        Pcg32 random(run < 2 ? 7 : 8);
        for (int i = 0; i < 20; ++i) texts[run].push_back(sample(logits, {}, options, random));
    }
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_NE(texts[0], texts[2]);
    // From an implementation in Python: the text of a seed is the same everywhere, for good.
    EXPECT_THAT(texts[0], ElementsAre(5, 3, 3, 2, 1, 2, 5, 2, 5, 3, 3, 3, 4, 3, 2, 3, 2, 5, 3, 2));
}

TEST(Sample, GreedyLeavesTheGeneratorAlone) {
    Pcg32 random(3);
    EXPECT_EQ(sample(std::vector<float>{1, 4, 4}, {}, {}, random), 1);
    EXPECT_EQ(random, Pcg32(3));
}

TEST(Sample, ThePenaltySeesTheWindowOnly) {
    Pcg32 random(3);
    const std::vector<float> logits = {1, 4, 3.9F};
    const std::vector<TokenId> history = {1, 0, 0};
    EXPECT_EQ(sample(logits, history, {.repetition_penalty = 1.2}, random), 2);
    EXPECT_EQ(sample(logits, history, {.repetition_penalty = 1.2, .repetition_window = 3}, random), 2);
    EXPECT_EQ(sample(logits, history, {.repetition_penalty = 1.2, .repetition_window = 2}, random), 1);
    EXPECT_EQ(sample(logits, history, {.repetition_penalty = 1.2, .repetition_window = 0}, random), 1);
}

TEST(Sample, RefusesLogitsThatAreNone) {
    Pcg32 random(3);
    const SamplingOptions warm{.temperature = 1};
    EXPECT_THROW(sample(std::vector<float>{1, kNan}, {}, warm, random), Error);
    EXPECT_THROW(sample(std::vector<float>{1, INFINITY}, {}, warm, random), Error);
    EXPECT_THROW(sample(std::vector<float>{-INFINITY, -INFINITY}, {}, warm, random), Error);
    EXPECT_EQ(sample(std::vector<float>{-INFINITY, -3}, {}, warm, random), 1);
    EXPECT_EQ(sample(std::vector<float>{2, 3}, {}, {.temperature = 1e-300}, random), 1);
}

TEST(SamplingOptions, AreCheckedByName) {
    const auto problem = [](const SamplingOptions& options) -> std::string {
        try {
            check(options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem({}), "");
    EXPECT_EQ(problem({.temperature = 2, .top_k = 1, .top_p = 1e-3, .min_p = 1, .repetition_penalty = 0.5}),
              "");
    EXPECT_THAT(problem({.temperature = -1}), HasSubstr("`temperature`: is -1, expected 0 or more"));
    EXPECT_THAT(problem({.temperature = INFINITY}), HasSubstr("temperature"));
    EXPECT_THAT(problem({.top_k = -1}), HasSubstr("top_k"));
    EXPECT_THAT(problem({.top_p = 0}), HasSubstr("top_p"));
    EXPECT_THAT(problem({.top_p = std::nan("")}), HasSubstr("top_p"));
    EXPECT_THAT(problem({.min_p = 1.5}), HasSubstr("min_p"));
    EXPECT_THAT(problem({.repetition_penalty = 0}), HasSubstr("repetition_penalty"));
    EXPECT_THAT(problem({.repetition_window = -1}), HasSubstr("repetition_window"));
}

}  // namespace
}  // namespace tessera::llm
