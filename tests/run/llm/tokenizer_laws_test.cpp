#include <chrono>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "run/llm/fixtures.h"
#include "run/llm/load_tokenizer.h"
#include "run/llm/utf8_stream.h"

// Laws that hold for every text, on random ones; failures print the seed.

namespace tessera::llm {
namespace {

/// Tokenizers that lose nothing: no normaliser but the reversible marking of spaces. (Metaspace is not among
/// them: it puts no space in front of a text that has one.)
class Lossless : public ::testing::TestWithParam<const char*> {
protected:
    Tokenizer tokenizer_ = load_tokenizer(test::fixtures() / GetParam());

    std::string random_text(uint32_t seed) const {
        std::mt19937 random(seed);
        std::string text;
        for (int part = 0; part < 4; ++part) {
            const size_t length = random() % 12;
            text += seed % 2 == 0 ? test::random_unicode(random, length) : test::random_bytes(random, length);
            if (random() % 4 == 0) text += "the king rides ";
        }
        return text;
    }
};

TEST_P(Lossless, DecodingGivesTheTextBack) {
    for (uint32_t seed = 0; seed < 3000; ++seed) {
        const std::string text = random_text(seed);
        EXPECT_EQ(tokenizer_.decode(tokenizer_.encode(text, {.parse_special = false})), text)
            << "seed " << seed;
    }
}

TEST_P(Lossless, TokenBytesAreTheTextInPieces) {
    for (uint32_t seed = 0; seed < 500; ++seed) {
        const std::string text = random_text(seed);
        const auto ids = tokenizer_.encode(text, {.parse_special = false});
        Utf8Stream stream;
        std::string streamed;
        for (const TokenId id : ids) streamed += stream.push(tokenizer_.token_bytes(id));
        streamed += stream.finish();
        // The space in front of a whole text belongs to no token alone.
        if (std::string(GetParam()) == "llama2")
            streamed = streamed.substr(std::min<size_t>(1, streamed.size()));
        EXPECT_EQ(streamed, text) << "seed " << seed;
    }
}

TEST_P(Lossless, SpecialIdsAreOnlyAddedAround) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
        const std::string text = random_text(seed);
        const auto plain = tokenizer_.encode(text);
        const auto framed = tokenizer_.encode(text, {.add_special = true});
        ASSERT_GE(framed.size(), plain.size());
        const size_t front = tokenizer_.adds_bos() ? 1 : 0;
        EXPECT_TRUE(std::equal(plain.begin(), plain.end(), framed.begin() + static_cast<ptrdiff_t>(front)));
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Lossless, ::testing::Values("gpt2", "llama3", "smollm", "llama2"),
                         [](const auto& test_info) { return std::string(test_info.param); });

TEST(Normalising, IsIdempotentThroughIds) {
    const Tokenizer tokenizer = load_tokenizer(test::fixtures() / "qwen2");
    for (uint32_t seed = 0; seed < 1000; ++seed) {
        std::mt19937 random(seed);
        const std::string text = test::random_unicode(random, 20);
        const auto ids = tokenizer.encode(text, {.parse_special = false});
        const std::string composed = tokenizer.decode(ids);
        EXPECT_EQ(tokenizer.encode(composed, {.parse_special = false}), ids) << "seed " << seed;
    }
}

TEST(LongTexts, TakeTimeInProportion) {
    // Quadratic merging would take minutes; the bound leaves room for slow machines and sanitizers.
    constexpr size_t kSize = 1 << 18;
    std::string words;
    while (words.size() < kSize) words += "the king rides through 12 forests,\n";
    for (const char* name : {"gpt2", "qwen2", "llama2"}) {
        const Tokenizer tokenizer = load_tokenizer(test::fixtures() / name);
        for (const std::string& text :
             {words, std::string(kSize, 'x'), std::string(kSize, ' '), std::string(kSize, '\n'),
              std::string(kSize, '\xff'), std::string(kSize, '<')}) {
            const auto start = std::chrono::steady_clock::now();
            const auto ids = tokenizer.encode(text);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            EXPECT_LT(taken.count(), 20.0) << name << " " << text.substr(0, 8);
            EXPECT_EQ(tokenizer.decode(ids), text);
        }
    }
}

}  // namespace
}  // namespace tessera::llm
