#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/import_model.h"
#include "import/quantised/plain_blocks.h"
#include "import/random_checkpoint.h"
#include "import/run_model.h"
#include "support/temporary_folder.h"

// Folders of GPTQ and AWQ, packed here as AutoGPTQ and AutoAWQ pack, against plain loops on their values.

namespace tessera::import {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NamedTensor;

constexpr size_t kGroup = 64;

NamedTensor words(std::vector<int64_t> shape, const std::vector<uint32_t>& values) {
    return {.shape = std::move(shape),
            .values = {},
            .type = "I32",
            .stored = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint32_t)}};
}

/// A matrix [outputs, inputs] of numbers, with zero points and scales [groups, outputs].
struct Packed {
    size_t outputs, inputs;
    std::vector<unsigned> q, zeros;
    std::vector<uint16_t> scales;

    Packed(size_t n, size_t k, unsigned least_zero, std::mt19937_64& random) : outputs(n), inputs(k) {
        for (size_t i = 0; i < n * k; ++i) q.push_back(random() % 16);
        for (size_t i = 0; i < k / kGroup * n; ++i) {
            zeros.push_back(least_zero + random() % 16);
            scales.push_back(testing::half_pattern(0.01 + static_cast<double>(random() % 100) / 4000));
        }
    }
    std::vector<float> values() const {
        std::vector<float> all;
        for (size_t n = 0; n < outputs; ++n)
            for (size_t k = 0; k < inputs; ++k) {
                const size_t at = k / kGroup * outputs + n;
                const double difference = static_cast<double>(q[n * inputs + k]) - zeros[at];
                all.push_back(static_cast<float>(difference * testing::half_value(scales[at])));
            }
        return all;
    }
    NamedTensor stored_scales() const {
        return {.shape = {static_cast<int64_t>(inputs / kGroup), static_cast<int64_t>(outputs)},
                .values = {},
                .type = "F16",
                .stored = {reinterpret_cast<const char*>(scales.data()), scales.size() * 2}};
    }
};

/// Rows [rows, columns] of numbers, eight neighbours of a row in a word, in this order.
std::vector<uint32_t> packed_rows(const std::vector<unsigned>& numbers, const std::vector<size_t>& order) {
    std::vector<uint32_t> all;
    for (size_t at = 0; at < numbers.size(); at += 8) {
        uint32_t word = 0;
        for (size_t i = 0; i < 8; ++i) word |= numbers[at + order[i]] << 4 * i;
        all.push_back(word);
    }
    return all;
}

const std::vector<size_t> kPlain = {0, 1, 2, 3, 4, 5, 6, 7};
const std::vector<size_t> kInterleaved = {0, 2, 4, 6, 1, 3, 5, 7};

using Tensors = std::map<std::string, NamedTensor>;

void add_gptq(Tensors& tensors, const std::string& stem, const Packed& m) {
    const auto n = static_cast<int64_t>(m.outputs), k = static_cast<int64_t>(m.inputs);
    std::vector<uint32_t> q;
    for (size_t row = 0; row < m.inputs / 8; ++row)
        for (size_t column = 0; column < m.outputs; ++column) {
            uint32_t word = 0;
            for (size_t i = 0; i < 8; ++i) word |= m.q[column * m.inputs + row * 8 + i] << 4 * i;
            q.push_back(word);
        }
    std::vector<unsigned> zeros;
    for (const unsigned zero : m.zeros) zeros.push_back(zero - 1);
    std::vector<uint32_t> groups;
    for (size_t i = 0; i < m.inputs; ++i) groups.push_back(static_cast<uint32_t>(i / kGroup));
    tensors[stem + ".qweight"] = words({k / 8, n}, q);
    tensors[stem + ".qzeros"] = words({k / 64, n / 8}, packed_rows(zeros, kPlain));
    tensors[stem + ".scales"] = m.stored_scales();
    tensors[stem + ".g_idx"] = words({k}, groups);
}

void add_awq(Tensors& tensors, const std::string& stem, const Packed& m) {
    const auto n = static_cast<int64_t>(m.outputs), k = static_cast<int64_t>(m.inputs);
    std::vector<unsigned> by_inputs;
    for (size_t i = 0; i < m.inputs; ++i)
        for (size_t o = 0; o < m.outputs; ++o) by_inputs.push_back(m.q[o * m.inputs + i]);
    tensors[stem + ".qweight"] = words({k, n / 8}, packed_rows(by_inputs, kInterleaved));
    tensors[stem + ".qzeros"] = words({k / 64, n / 8}, packed_rows(m.zeros, kInterleaved));
    tensors[stem + ".scales"] = m.stored_scales();
}

class PackedFolders : public ::testing::Test {
protected:
    PackedFolders() {
        decoder_.hidden = decoder_.feed_forward = 128;
        decoder_.heads = 4, decoder_.cache_heads = 2, decoder_.width = 32;
        decoder_.fill(5);
    }

    /// All matrices of the layers.
    void pack(unsigned least_zero, void (*add)(Tensors&, const std::string&, const Packed&)) {
        std::mt19937_64 random(9);
        stored_ = decoder_.tensors;
        for (auto& [name, tensor] : decoder_.tensors) {
            if (tensor.shape.size() != 2 || name.find("proj") == std::string::npos) continue;
            const Packed m(static_cast<size_t>(tensor.shape[0]), static_cast<size_t>(tensor.shape[1]),
                           least_zero, random);
            tensor.values = m.values();
            stored_.erase(name);
            add(stored_, name.substr(0, name.size() - std::string(".weight").size()), m);
        }
    }
    ModelReport written(const json& quantisation) const {
        json config = testing::config_of(decoder_);
        config["quantization_config"] = quantisation;
        testing::write_file(folder_.path() / "config.json", config.dump());
        testing::write_file(folder_.path() / "model.safetensors", testing::safetensors_of(stored_));
        return inspect_model(folder_.path());
    }
    void expect_logits() const {
        const ImportedModel model = import_model(folder_.path(), {.policy = Policy::kExact});
        EXPECT_LT(testing::distance_from_loops(model, decoder_), 3e-6);
    }

    const json gptq_ = {{"quant_method", "gptq"}, {"bits", 4}, {"group_size", 64}, {"desc_act", false}};
    const json awq_ = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 64}, {"version", "gemm"}};
    testing::RandomDecoder decoder_;
    Tensors stored_;
    TemporaryFolder folder_;
};

TEST_F(PackedFolders, GptqComputesWhatPlainLoopsDo) {
    pack(1, add_gptq);
    EXPECT_THAT(written(gptq_).checkpoint.findings.unsupported, ElementsAre());
    expect_logits();
}

TEST_F(PackedFolders, TheSecondFormOfGptqStoresZerosAsTheyAre) {
    pack(1, add_gptq);
    json second = gptq_;
    second["checkpoint_format"] = "gptq_v2";
    written(second);
    const ImportedModel model = import_model(folder_.path(), {.policy = Policy::kExact});
    EXPECT_GT(testing::distance_from_loops(model, decoder_), 1e-3) << "the test stores one less";
}

TEST_F(PackedFolders, AwqComputesWhatPlainLoopsDo) {
    pack(0, add_awq);
    EXPECT_THAT(written(awq_).checkpoint.findings.unsupported, ElementsAre());
    expect_logits();
}

/// Zero points of 8, stored as these.
void store_zeros(Tensors& tensors, uint32_t stored) {
    for (auto& [name, tensor] : tensors)
        if (name.ends_with(".qzeros"))
            for (char& byte : tensor.stored) byte = static_cast<char>(stored | stored << 4);
}

TEST_F(PackedFolders, ASymmetricMatrixHasOneZeroPoint) {
    pack(8, add_gptq);
    // Every zero point of the plain loops is 8, too.
    std::mt19937_64 random(9);
    for (auto& [name, tensor] : decoder_.tensors) {
        if (tensor.shape.size() != 2 || name.find("proj") == std::string::npos) continue;
        Packed m(static_cast<size_t>(tensor.shape[0]), static_cast<size_t>(tensor.shape[1]), 8, random);
        m.zeros.assign(m.zeros.size(), 8);
        tensor.values = m.values();
    }
    json settings = gptq_;
    settings["sym"] = true;
    std::vector<std::vector<std::byte>> blocks;
    for (const char* format : {"gptq", "gptq_v2"})
        for (const uint32_t stored : {7U, 8U}) {
            settings["checkpoint_format"] = format;
            store_zeros(stored_, stored);
            const ModelReport report = written(settings);
            EXPECT_THAT(report.checkpoint.findings.unsupported, ElementsAre());
            const TensorContents found =
                report.checkpoint.weights->contents("model.layers.0.self_attn.q_proj.weight");
            blocks.emplace_back(found.bytes.begin(), found.bytes.end());
            EXPECT_EQ(blocks.back(), blocks.front()) << format << " " << stored;
        }
    expect_logits();
    store_zeros(stored_, 5);
    EXPECT_THAT(written(settings).checkpoint.findings.unsupported,
                Contains(HasSubstr("zero points of its own, where sym is true")));
}

TEST_F(PackedFolders, SettingsMayStandInAFileOfTheirOwn) {
    for (const bool is_gptq : {true, false}) {
        decoder_.fill(5);
        is_gptq ? pack(1, add_gptq) : pack(0, add_awq);
        written(nullptr);
        EXPECT_THAT(
            inspect_model(folder_.path()).checkpoint.findings.unsupported,
            Contains(AllOf(HasSubstr(".qweight: a packed matrix"), HasSubstr("quantize_config.json"))));
        const auto file = folder_.path() / (is_gptq ? "quantize_config.json" : "quant_config.json");
        const json own = is_gptq
                             ? json({{"bits", 4}, {"group_size", 64}, {"desc_act", false}, {"sym", false}})
                             : json({{"w_bit", 4}, {"q_group_size", 64}, {"zero_point", true}});
        testing::write_file(file, own.dump());
        EXPECT_THAT(inspect_model(folder_.path()).checkpoint.findings.unsupported, ElementsAre());
        expect_logits();
        std::filesystem::remove(file);
    }
}

TEST_F(PackedFolders, RowsOfFusedMatricesAreThoseOfTheWhole) {
    std::mt19937_64 random(9);
    decoder_.architecture = "phi3";
    stored_ = decoder_.tensors;
    const auto fuse = [&](const std::string& layer, const std::string& whole,
                          const std::vector<std::string>& parts) {
        size_t rows = 0;
        for (const std::string& part : parts)
            rows += static_cast<size_t>(decoder_.tensors.at(layer + part + ".weight").shape[0]);
        const Packed m(rows, 128, 0, random);
        const std::vector<float> values = m.values();
        auto at = values.begin();
        for (const std::string& part : parts) {
            NamedTensor& own = decoder_.tensors.at(layer + part + ".weight");
            std::copy_n(at, own.values.size(), own.values.begin());
            at += std::ssize(own.values);
            stored_.erase(layer + part + ".weight");
        }
        add_awq(stored_, layer + whole, m);
    };
    for (int64_t i = 0; i < decoder_.layers; ++i) {
        const std::string layer = "model.layers." + std::to_string(i) + ".";
        fuse(layer, "self_attn.qkv_proj", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"});
        fuse(layer, "mlp.gate_up_proj", {"mlp.gate_proj", "mlp.up_proj"});
    }
    EXPECT_THAT(written(awq_).checkpoint.findings.unsupported, ElementsAre());
    expect_logits();
}

TEST_F(PackedFolders, WhatDoesNotFitIsNamed) {
    pack(1, add_gptq);
    const auto with = [&](const std::string& field, const json& value) {
        json changed = gptq_;
        changed[field] = value;
        return written(changed).checkpoint.findings.unsupported;
    };
    EXPECT_THAT(with("group_size", 128), Contains(HasSubstr("in groups of 64, where group_size is 128")));
    EXPECT_THAT(with("bits", 8), ElementsAre(HasSubstr("quantization_config.bits = 8")));
    EXPECT_THAT(with("checkpoint_format", "marlin"), ElementsAre(HasSubstr("checkpoint_format")));
    EXPECT_THAT(with("quant_method", "bitsandbytes"), Contains(HasSubstr("known are gptq, awq and fp8")));

    const std::string stem = "model.layers.0.self_attn.q_proj";
    const Tensors whole = stored_;
    const auto finds = [&](const char* why) {
        EXPECT_THAT(written(gptq_).checkpoint.findings.unsupported, Contains(HasSubstr(why)));
        stored_ = whole;
    };
    std::swap(stored_[stem + ".g_idx"].stored[0], stored_[stem + ".g_idx"].stored[4 * 127]);
    finds("1 tensors of type GPTQ with an order of its own (desc_act)");
    stored_.erase(stem + ".qzeros");
    finds("without qweight and qzeros");
    stored_[stem + ".scales"].type = "BF16";
    finds("with scales of BF16");
    stored_[stem + ".scales"] = whole.at("model.layers.0.self_attn.k_proj.scales");
    finds("whose parts do not fit together");
}

}  // namespace
}  // namespace tessera::import
