#include "import/hf/fp8_weights.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/checkpoint.h"
#include "import/import_model.h"
#include "import/quantised/plain_blocks.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "support/temporary_folder.h"

// Folders with floats of eight bits, against plain loops on their values.

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NamedTensor;

/// The positive numbers of F8_E4M3 as F16, by ml_dtypes (numpy).
constexpr std::array<uint16_t, 128> kE4m3AsHalf = {
    0x0000, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400, 0x2480, 0x2500, 0x2580, 0x2600,
    0x2680, 0x2700, 0x2780, 0x2800, 0x2880, 0x2900, 0x2980, 0x2a00, 0x2a80, 0x2b00, 0x2b80, 0x2c00, 0x2c80,
    0x2d00, 0x2d80, 0x2e00, 0x2e80, 0x2f00, 0x2f80, 0x3000, 0x3080, 0x3100, 0x3180, 0x3200, 0x3280, 0x3300,
    0x3380, 0x3400, 0x3480, 0x3500, 0x3580, 0x3600, 0x3680, 0x3700, 0x3780, 0x3800, 0x3880, 0x3900, 0x3980,
    0x3a00, 0x3a80, 0x3b00, 0x3b80, 0x3c00, 0x3c80, 0x3d00, 0x3d80, 0x3e00, 0x3e80, 0x3f00, 0x3f80, 0x4000,
    0x4080, 0x4100, 0x4180, 0x4200, 0x4280, 0x4300, 0x4380, 0x4400, 0x4480, 0x4500, 0x4580, 0x4600, 0x4680,
    0x4700, 0x4780, 0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80, 0x4c00, 0x4c80, 0x4d00,
    0x4d80, 0x4e00, 0x4e80, 0x4f00, 0x4f80, 0x5000, 0x5080, 0x5100, 0x5180, 0x5200, 0x5280, 0x5300, 0x5380,
    0x5400, 0x5480, 0x5500, 0x5580, 0x5600, 0x5680, 0x5700, 0x5780, 0x5800, 0x5880, 0x5900, 0x5980, 0x5a00,
    0x5a80, 0x5b00, 0x5b80, 0x5c00, 0x5c80, 0x5d00, 0x5d80, 0x5e00, 0x5e80, 0x5f00, 0x7e00};

TEST(Fp8, NumbersAreThoseOfNumpy) {
    for (int i = 0; i < 128; ++i) {
        const auto bits = static_cast<uint8_t>(i), negative = static_cast<uint8_t>(i | 0x80);
        if (i == 127) {
            EXPECT_TRUE(std::isnan(value_of_e4m3(bits)) && std::isnan(value_of_e4m3(negative)));
        } else {
            EXPECT_EQ(value_of_e4m3(bits), testing::half_value(kE4m3AsHalf[bits])) << i;
            EXPECT_EQ(value_of_e4m3(negative), -testing::half_value(kE4m3AsHalf[bits])) << i;
        }
    }
    // F8_E5M2 is the upper half of an F16.
    for (int i = 0; i < 256; ++i) {
        if ((i & 0x7f) >= 0x7c) continue;
        EXPECT_EQ(value_of_e5m2(static_cast<uint8_t>(i)), testing::half_value(static_cast<uint16_t>(i << 8)));
    }
    EXPECT_TRUE(std::isinf(value_of_e5m2(0x7c)) && value_of_e5m2(0xfc) < 0 &&
                std::isnan(value_of_e5m2(0x7d)));
}

template <typename Number>
NamedTensor stored_tensor(std::vector<int64_t> shape, const char* type, const std::vector<Number>& values) {
    return {.shape = std::move(shape),
            .values = {},
            .type = type,
            .stored = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)}};
}

struct Fp8Case {
    std::string type = "F8_E4M3";
    int64_t block_rows = 128, block_columns = 128;
    bool has_powers_of_two = false;
    std::string scale_name = ".weight_scale_inv";
    std::function<std::vector<int64_t>(int64_t rows)> scale_shape = {};  ///< unset: by blocks
};

class Fp8Folders : public ::testing::Test {
protected:
    Fp8Folders() {
        decoder_.hidden = 160;
        decoder_.feed_forward = 200;
        decoder_.heads = 4, decoder_.cache_heads = 2, decoder_.width = 40;
        decoder_.fill(5);
    }

    /// All matrices of the layers; `decoder_` gets the values.
    void store(const Fp8Case& as) {
        std::mt19937_64 random(9);
        stored_ = decoder_.tensors;
        for (auto& [name, tensor] : decoder_.tensors) {
            if (tensor.shape.size() != 2 || name.find("proj") == std::string::npos) continue;
            const int64_t rows = tensor.shape[0], columns = tensor.shape[1];
            int64_t block_rows = as.block_rows, block_columns = as.block_columns;
            std::vector<int64_t> shape = {(rows + block_rows - 1) / block_rows,
                                          (columns + block_columns - 1) / block_columns};
            if (as.scale_shape) {
                shape = as.scale_shape(rows);
                block_columns = columns;
                block_rows = shape.empty() || shape[0] == 1 ? rows : 1;
            }
            const int64_t in_row = (columns + block_columns - 1) / block_columns;
            std::vector<float> scales(static_cast<size_t>((rows + block_rows - 1) / block_rows * in_row));
            for (float& scale : scales)
                scale = as.has_powers_of_two ? std::ldexp(1.0f, -8 - static_cast<int>(random() % 3))
                                             : static_cast<float>(1 + random() % 1000) / 300'000;
            std::vector<uint8_t> bits;
            for (int64_t i = 0; i < rows * columns; ++i) {
                // No largest exponents: those of E5M2 are far from the others.
                const auto pattern =
                    static_cast<uint8_t>(random() % 256 & (as.type == "F8_E4M3" ? 0xf7 : 0xc7));
                bits.push_back(pattern);
                const double number =
                    as.type == "F8_E4M3"
                        ? testing::half_value(kE4m3AsHalf[pattern & 0x7f]) * (pattern > 127 ? -1 : 1)
                        : testing::half_value(static_cast<uint16_t>(pattern << 8));
                const float scale = scales[static_cast<size_t>(i / columns / block_rows * in_row +
                                                               i % columns / block_columns)];
                tensor.values[static_cast<size_t>(i)] = static_cast<float>(number) * scale;
            }
            stored_[name] = stored_tensor(tensor.shape, as.type.c_str(), bits);
            stored_[name.substr(0, name.size() - 7) + as.scale_name] = stored_tensor(shape, "F32", scales);
        }
    }
    ModelReport written(const json& changes = json::object()) const {
        json config = testing::config_of(decoder_);
        config["quantization_config"] = {
            {"quant_method", "fp8"}, {"activation_scheme", "dynamic"}, {"weight_block_size", {128, 128}}};
        config["quantization_config"].update(changes);
        testing::write_file(folder_.path() / "config.json", config.dump());
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(stored_));
        return inspect_model(folder_.path());
    }
    /// Bit for bit, and as a model.
    void expect_values(const char* type) const {
        const Checkpoint checkpoint = open_checkpoint(folder_.path());
        for (const auto& [name, tensor] : decoder_.tensors) {
            if (stored_.at(name).type == "F32") continue;
            const StoredTensor* found = checkpoint.weights->find(name);
            ASSERT_TRUE(found != nullptr && found->shape == tensor.shape) << name;
            ASSERT_EQ(found->type, type);
            const TensorContents contents = checkpoint.weights->contents(name);
            const size_t width = found->type == "F32" ? 4 : 2;
            ASSERT_EQ(contents.bytes.size(), tensor.values.size() * width);
            for (size_t i = 0; i < tensor.values.size(); ++i) {
                std::array<std::byte, 4> bytes{};
                std::memcpy(bytes.data() + 4 - width, contents.bytes.data() + i * width, width);
                float value = 0;
                std::memcpy(&value, bytes.data(), 4);
                ASSERT_EQ(value, tensor.values[i]) << name << " " << i;
            }
        }
        const ImportedModel model = import_model(folder_.path(), {.policy = Policy::kExact});
        EXPECT_LT(testing::distance_from_loops(model, decoder_), 3e-6);
    }

    testing::RandomDecoder decoder_;
    std::map<std::string, NamedTensor> stored_;
    TemporaryFolder folder_;
};

TEST_F(Fp8Folders, BlocksOfScales) {
    store({});
    const ModelReport report = written();
    EXPECT_THAT(report.checkpoint.findings.unsupported, ElementsAre());
    EXPECT_THAT(report.checkpoint.findings.warnings, ElementsAre(HasSubstr("activations are not rounded")));
    expect_values("F32");
}

TEST_F(Fp8Folders, ScalesThatArePowersOfTwoKeepTheWeightsShort) {
    store({.type = "F8_E5M2", .block_rows = 64, .block_columns = 32, .has_powers_of_two = true});
    EXPECT_THAT(written({{"weight_block_size", {64, 32}}}).checkpoint.findings.unsupported, ElementsAre());
    expect_values("BF16");
}

TEST_F(Fp8Folders, ScalesMayBePowersOfTwoByTheirExponents) {
    store({.has_powers_of_two = true});
    for (auto& [name, tensor] : stored_) {
        if (!name.ends_with("_scale_inv")) continue;
        std::vector<uint8_t> exponents;
        for (size_t i = 0; i < tensor.stored.size(); i += 4) {
            float scale = 0;
            std::memcpy(&scale, tensor.stored.data() + i, 4);
            exponents.push_back(static_cast<uint8_t>(127 + std::ilogb(scale)));
        }
        tensor = stored_tensor(tensor.shape, "F8_E8M0", exponents);
    }
    EXPECT_THAT(written().checkpoint.findings.unsupported, ElementsAre());
    expect_values("BF16");
}

TEST_F(Fp8Folders, OneScaleForAllOrForEachRow) {
    for (const auto& shape : std::vector<std::function<std::vector<int64_t>(int64_t)>>{
             [](int64_t) { return std::vector<int64_t>{}; }, [](int64_t) { return std::vector<int64_t>{1}; },
             [](int64_t rows) {
                 return std::vector<int64_t>{rows, 1};
             },
             [](int64_t rows) { return std::vector<int64_t>{rows}; }}) {
        decoder_.fill(5);
        store({.scale_name = ".weight_scale", .scale_shape = shape});
        for (const auto& [name, tensor] : decoder_.tensors)
            if (name.ends_with("q_proj.weight"))
                stored_[name.substr(0, name.size() - 7) + ".input_scale"] =
                    stored_tensor({}, "F32", std::vector<float>{1});
        EXPECT_THAT(written({{"weight_block_size", nullptr}}).checkpoint.findings.unsupported, ElementsAre());
        expect_values("F32");
    }
}

TEST_F(Fp8Folders, WhatDoesNotFitIsNamed) {
    store({});
    EXPECT_THAT(written({{"quant_method", "fbgemm_fp8"}}).checkpoint.findings.unsupported,
                Contains(HasSubstr("known are gptq, awq and fp8")));
    EXPECT_THAT(written({{"weight_block_size", {128}}}).checkpoint.findings.unsupported,
                Contains(HasSubstr("blocks of scales; two numbers are read")));
    const std::string stem = "model.layers.0.self_attn.q_proj";
    const auto whole = stored_;
    const auto finds = [&](const char* why, const json& changes = json::object()) {
        EXPECT_THAT(written(changes).checkpoint.findings.unsupported, Contains(HasSubstr(why)));
        stored_ = whole;
    };
    stored_.erase(stem + ".weight_scale_inv");
    finds("1 tensors of type F8_E4M3 without model.layers.0.self_attn.q_proj.weight_scale_inv or ");
    stored_[stem + ".weight_scale_inv"] = stored_tensor({2, 2}, "I32", std::vector<int32_t>(4, 1));
    finds("with scales of I32");
    stored_[stem + ".weight_scale"] = stored_[stem + ".weight_scale_inv"];
    finds("with two kinds of scales");
    finds("whose scales do not fit blocks of 64 x 128", {{"weight_block_size", {64, 128}}});
}

}  // namespace
}  // namespace tessera::import
