#include "import/quantised/mixture.h"

#include <cmath>
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/constant_data.h"
#include "import/import_model.h"
#include "import/quantised/memory_weights.h"
#include "import/quantised/plain_blocks.h"
#include "import/quantised/quantising_weights.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "support/error.h"
#include "support/temporary_folder.h"

namespace tessera::import {
namespace {

using ops::WeightFormat;
using ::testing::HasSubstr;
using testing::RandomDecoder;

TEST(Mixture, NamesReadBack) {
    for (const Mixture mixture : {Mixture::kQ8_0, Mixture::kQ4_0, Mixture::kQ4_K_M})
        EXPECT_EQ(mixture_of(name(mixture)), mixture);
    EXPECT_EQ(mixture_of("q4_k_s"), std::nullopt);
    EXPECT_EQ(mixture_of(""), std::nullopt);
}

// llama.cpp's mixture for a model of 28 layers (Qwen3-0.6B): the layers whose `attn_v` and `ffn_down` are
// Q6_K.
TEST(Mixture, MoreBitsGoWhereLlamaCppPutsThem) {
    const std::vector<int64_t> expected = {0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 24, 25, 26, 27};
    for (const char* tensor : {"v_weight", "down_weight"}) {
        std::vector<int64_t> found;
        for (int64_t layer = 0; layer < 28; ++layer)
            if (format_in(Mixture::kQ4_K_M, tensor, layer, 28, 1024) == WeightFormat::kQ6_K)
                found.push_back(layer);
        EXPECT_EQ(found, expected);
    }
    for (int64_t layer = 0; layer < 28; ++layer) {
        EXPECT_EQ(format_in(Mixture::kQ4_K_M, "output_weight", layer, 28, 1024), WeightFormat::kQ4_K);
        EXPECT_EQ(format_in(Mixture::kQ4_0, "down_weight", layer, 28, 1024), WeightFormat::kQ4_0);
        EXPECT_EQ(format_in(Mixture::kQ8_0, "v_weight", layer, 28, 1024), WeightFormat::kQ8_0);
    }
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, "v_weight", 10, 80, 8192), WeightFormat::kQ5_K);
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, "down_weight", 10, 80, 8192), WeightFormat::kQ4_K);
}

TEST(Mixture, TheHeadGetsSixBits) {
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, true, 1024), WeightFormat::kQ6_K);
    EXPECT_EQ(format_in(Mixture::kQ4_0, true, 1024), WeightFormat::kQ6_K);
    EXPECT_EQ(format_in(Mixture::kQ8_0, true, 1024), WeightFormat::kQ8_0);
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, false, 1024), WeightFormat::kQ4_K);
    EXPECT_EQ(format_in(Mixture::kQ4_0, false, 1024), WeightFormat::kQ4_0);
}

TEST(Mixture, RowsThatBlocksDoNotDivideFallBack) {
    const auto of = [](const char* tensor, int64_t layer, int64_t inputs) {
        return format_in(Mixture::kQ4_K_M, tensor, layer, 28, inputs);
    };
    EXPECT_EQ(of("q_weight", 0, 576), WeightFormat::kQ5_0);
    EXPECT_EQ(of("v_weight", 0, 576), WeightFormat::kQ8_0);
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, "v_weight", 10, 80, 576), WeightFormat::kQ5_1);
    EXPECT_EQ(of("q_weight", 0, 72), std::nullopt);
    EXPECT_EQ(format_in(Mixture::kQ4_K_M, true, 576), WeightFormat::kQ8_0);
    EXPECT_EQ(format_in(Mixture::kQ8_0, true, 72), std::nullopt);
}

RandomDecoder small_decoder(int64_t hidden) {
    RandomDecoder decoder;
    decoder.hidden = decoder.feed_forward = hidden;
    decoder.heads = 4;
    decoder.cache_heads = 1;
    decoder.width = hidden / 4;
    decoder.vocabulary = 9;
    decoder.fill(8);
    // As large as in a trained model: with larger ones a softmax picks one token, and any error flips it.
    for (auto& [name, tensor] : decoder.tensors)
        if (tensor.shape.size() == 2)
            for (float& value : tensor.values) value *= 0.1F;
    return decoder;
}

double distance(const RandomDecoder& decoder, const std::filesystem::path& path,
                const ImportOptions& options) {
    const ImportedModel model = import_model(path, options);
    const std::vector<int64_t> tokens = {3, 1, 8, 0};
    const std::vector<double> found = testing::InterpretedSession(model, 16).step(tokens);
    return testing::distance_of_range(found, testing::naive_logits(decoder, tokens));
}

class Quantised : public ::testing::TestWithParam<std::tuple<const char*, int64_t, double>> {};

// The largest difference by which quantising moves the logits of random weights, in parts of their range.
TEST_P(Quantised, LogitsStayNear) {
    const auto [mixture, hidden, tolerance] = GetParam();
    const RandomDecoder decoder = small_decoder(hidden);
    const TemporaryFolder folder;
    testing::write_hugging_face(decoder, folder.path());
    const double found = distance(decoder, folder.path(), {.quantisation = mixture_of(mixture)});
    EXPECT_LT(found, tolerance);
    EXPECT_GT(found, 1e-4) << "nothing was quantised";
}

INSTANTIATE_TEST_SUITE_P(All, Quantised,
                         ::testing::Values(std::tuple("q8_0", 256, 0.01), std::tuple("q4_0", 256, 0.15),
                                           std::tuple("q4_k_m", 256, 0.15), std::tuple("q4_k_m", 96, 0.15)));

TEST(QuantisedModel, GgufAndHuggingFaceGiveTheSameOperands) {
    const RandomDecoder decoder = small_decoder(256);
    const TemporaryFolder folder;
    testing::write_hugging_face(decoder, folder.path());
    testing::write_gguf(decoder, folder.path() / "model.gguf");
    const ImportOptions options{.quantisation = Mixture::kQ4_K_M};
    const ImportedModel hf = import_model(folder.path(), options),
                        gguf = import_model(folder.path() / "model.gguf", options);
    const auto bytes = [](const ImportedModel& model, const std::string& name) {
        const TensorContents contents = model.weights->contents(name);
        return std::vector<std::byte>(contents.bytes.begin(), contents.bytes.end());
    };
    for (const std::string operand : {"#q", "#s", "#d"})
        EXPECT_EQ(bytes(hf, "model.layers.1.mlp.down_proj.weight" + operand),
                  bytes(gguf, "blk.1.ffn_down.weight" + operand));
}

TEST(QuantisedModel, IsNotQuantisedTwice) {
    RandomDecoder decoder = small_decoder(256);
    std::mt19937_64 random(1);
    testing::NamedTensor& up = decoder.tensors.at("model.layers.1.mlp.up_proj.weight");
    up.type = "Q8_0";
    up.stored = testing::random_blocks("Q8_0", 256 * 256, testing::Halves::kWeights, random);
    const TemporaryFolder folder;
    testing::write_gguf(decoder, folder.path() / "model.gguf");
    try {
        (void)import_model(folder.path() / "model.gguf", {.quantisation = Mixture::kQ4_0});
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("`blk.1.ffn_up.weight`: is Q8_0 already"));
    }
}

class QuantisingSource : public ::testing::Test {
protected:
    static std::string as_bytes(const std::vector<float>& values) {
        return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
    }
    static QuantisingWeights weights(const std::vector<float>& values, WeightFormat format) {
        const auto source = std::make_shared<testing::MemoryWeights>();
        source->add("w", "F32", {2, 256}, as_bytes(values));
        return {source, {{"w", format}}};
    }
    static std::vector<std::byte> bytes(const WeightSource& source, const std::string& name) {
        const TensorContents contents = source.contents(name);
        return {contents.bytes.begin(), contents.bytes.end()};
    }
};

TEST_F(QuantisingSource, OperandsAreTheSameInAnyOrderAndTwice) {
    std::vector<float> values;
    for (int i = 0; i < 512; ++i) values.push_back(std::sin(static_cast<float>(i) * 0.7F));
    const QuantisingWeights forwards = weights(values, WeightFormat::kQ4_K),
                            backwards = weights(values, WeightFormat::kQ4_K);
    const std::vector<std::string> names = {"w#q", "w#s", "w#m", "w#d", "w#dmin"};
    std::map<std::string, std::vector<std::byte>> first;
    for (const std::string& name : names) {
        first[name] = bytes(forwards, name);
        EXPECT_EQ(std::ssize(first[name]) * 8, forwards.find(name)->shape[0] * forwards.find(name)->shape[1] *
                                                   bits(forwards.find(name)->element.value()))
            << name;
    }
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
        EXPECT_EQ(bytes(backwards, *name), first[*name]) << *name;
        EXPECT_EQ(bytes(forwards, *name), first[*name]) << *name;
    }
}

TEST_F(QuantisingSource, WhatNoScaleHoldsIsNamed) {
    std::vector<float> values(512, 1.0F);
    for (const float wrong : {static_cast<float>(NAN), static_cast<float>(-INFINITY), 7e4F}) {
        values[300] = wrong;
        try {
            (void)bytes(weights(values, WeightFormat::kQ8_0), "w#q");
            FAIL() << "was accepted";
        } catch (const Error& error) {
            EXPECT_THAT(error.what(), HasSubstr("at element 300"));
        }
    }
}

}  // namespace
}  // namespace tessera::import
