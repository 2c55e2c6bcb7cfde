#include "run/runtime/shared_runs.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::string noise(size_t bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

/// The text that the runs give, each of which must be of an earlier text, or of this one and at its place.
std::string joined(const std::vector<std::string_view>& texts, const std::vector<Run>& runs, size_t text) {
    std::string all;
    for (const Run& run : runs) {
        EXPECT_LE(run.text, text);
        if (run.text == text) {
            EXPECT_EQ(run.offset, all.size());
        } else {
            EXPECT_EQ(run.size % (2 * kMiB), 0);
        }
        EXPECT_EQ(run.offset % 4096, 0);
        all += texts[run.text].substr(run.offset, run.size);
    }
    return all;
}

uint64_t stored(const std::vector<std::vector<Run>>& all) {
    uint64_t bytes = 0;
    for (size_t t = 0; t < all.size(); ++t)
        for (const Run& run : all[t])
            if (run.text == t) bytes += run.size;
    return bytes;
}

TEST(SharedRuns, WhatTextsHaveInCommonIsStoredOnce) {
    const std::string common = noise(5 * kMiB, 1), a = noise(3 * kMiB, 2), b = noise(kMiB / 2 + 4096, 3);
    const std::string first = a + common + a.substr(0, 1000), second = b + common + b,
                      third = common + common;
    const std::vector<std::string_view> texts = {first, second, third};
    const auto runs = shared_runs(texts);
    ASSERT_EQ(runs.size(), 3);
    for (size_t t = 0; t < 3; ++t) EXPECT_EQ(joined(texts, runs[t], t), texts[t]) << t;
    EXPECT_EQ(runs[0], (std::vector<runtime::Run>{{0, 0, first.size()}}));
    EXPECT_EQ(stored(runs), first.size() + (second.size() - 4 * kMiB) + (third.size() - 8 * kMiB));
}

TEST(SharedRuns, OfRandomTextsGiveThem) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<std::string> pieces;
        for (uint64_t p = 0; p < 3; ++p) pieces.push_back(noise((1 + random() % 700) * 4096, 100 * seed + p));
        pieces.emplace_back(3 * kMiB, '\0');
        std::vector<std::string> whole(4);
        for (std::string& text : whole)
            for (int i = 0; i < 4; ++i) text += pieces[random() % pieces.size()];
        for (std::string& text : whole) text += std::string(random() % 5000, 'x');
        const std::vector<std::string_view> texts(whole.begin(), whole.end());
        const auto runs = shared_runs(texts);
        for (size_t t = 0; t < texts.size(); ++t) ASSERT_EQ(joined(texts, runs[t], t), texts[t]) << seed;
    }
}

TEST(SharedRuns, SmallAndBlankTextsAreTheirOwn) {
    const std::string blank(6 * kMiB, '\0');
    const std::vector<std::string_view> texts = {"", "abc", "abc", blank, blank};
    const auto runs = shared_runs(texts);
    EXPECT_TRUE(runs[0].empty());
    for (size_t t = 1; t < texts.size(); ++t)
        EXPECT_EQ(runs[t], (std::vector<runtime::Run>{{t, 0, texts[t].size()}}));
}

}  // namespace
}  // namespace tessera::runtime
