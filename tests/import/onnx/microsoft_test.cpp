// Operators that onnxruntime makes of others, each in one model beside those others: y and z are to agree.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::counted;
using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

constexpr int64_t kOpset = 23;

OnnxNode fused(std::string_view op, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs = {"y"}) {
    OnnxNode node(op, inputs, outputs);
    node.domain("com.microsoft");
    return node;
}

/// A model of inputs that are given, with y and z of these shapes.
class BothWays {
public:
    BothWays& input(const std::string& name, const std::vector<int64_t>& shape,
                    int32_t type = test::kOnnxFloat) {
        builder_.input(name, type, shape);
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        // Neither monotonous nor periodic.
        std::vector<double> values;
        for (int64_t i = 0; i < count; ++i)
            values.push_back(
                static_cast<double>((7 * i + 3 * i * i + static_cast<int64_t>(values_.size())) % 23));
        for (double& value : values) value = type == test::kOnnxFloat ? value / 8 - 1.25 : value;
        values_[name] = {shape, values};
        return *this;
    }
    BothWays& given(const std::string& name, const std::vector<int64_t>& shape, int32_t type,
                    const std::vector<double>& values) {
        builder_.input(name, type, shape);
        values_[name] = {shape, values};
        return *this;
    }
    template <typename T>
    BothWays& known(const std::string& name, int32_t type, const std::vector<int64_t>& shape,
                    const std::vector<T>& values) {
        builder_.initializer(test::onnx_tensor<T>(name, type, shape, values));
        return *this;
    }
    BothWays& node(const OnnxNode& node) {
        builder_.node(node);
        return *this;
    }
    void agree(int32_t type = test::kOnnxFloat, const std::vector<std::string>& outputs = {"y", "z"}) {
        for (const std::string& output : outputs) builder_.output(output, type, {});
        const std::vector<TensorData> found = run(imported(builder_), values_);
        for (size_t pair = 0; pair < found.size(); pair += 2) {
            const TensorData &y = found[pair], &z = found[pair + 1];
            ASSERT_EQ(y.shape, z.shape) << outputs[pair];
            for (size_t i = 0; i < y.values.size(); ++i)
                EXPECT_NEAR(y.values[i], z.values[i], 1e-5) << outputs[pair] << ", element " << i;
        }
    }
    std::string problem() {
        builder_.output("y", test::kOnnxFloat, {});
        const ImportedModel model = imported(builder_);
        return model.unsupported.empty() ? "" : print(model.unsupported.front());
    }

private:
    OnnxBuilder builder_{kOpset};
    std::map<std::string, TensorData> values_;
};

TEST(MicrosoftOperators, Activations) {
    BothWays()
        .input("x", {2, 3})
        .input("b", {3})
        .node(fused("BiasGelu", {"x", "b"}))
        .node(OnnxNode("Add", {"x", "b"}, {"s"}))
        .node(OnnxNode("Gelu", {"s"}, {"z"}))
        .node(fused("FastGelu", {"x", "b"}, {"y2"}))
        .node(OnnxNode("Gelu", {"s"}, {"z2"}).string("approximate", "tanh"))
        .node(fused("FastGelu", {"x"}, {"y3"}))
        .node(OnnxNode("Gelu", {"x"}, {"z3"}).string("approximate", "tanh"))
        .node(fused("QuickGelu", {"x"}, {"y4"}).real("alpha", 1.5F))
        .known<float>("a", test::kOnnxFloat, {}, {1.5F})
        .node(OnnxNode("Mul", {"x", "a"}, {"m"}))
        .node(OnnxNode("Sigmoid", {"m"}, {"g"}))
        .node(OnnxNode("Mul", {"x", "g"}, {"z4"}))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2", "y3", "z3", "y4", "z4"});
}

TEST(MicrosoftOperators, Products) {
    BothWays()
        .input("a", {2, 4, 3})
        .input("b", {2, 5, 4})
        .node(fused("FusedMatMul", {"a", "b"}).integer("transA", 1).integer("transB", 1).real("alpha", 0.5F))
        .node(OnnxNode("Transpose", {"a"}, {"at"}).integers("perm", {0, 2, 1}))
        .node(OnnxNode("Transpose", {"b"}, {"bt"}).integers("perm", {0, 2, 1}))
        .node(OnnxNode("MatMul", {"at", "bt"}, {"p"}))
        .known<float>("half", test::kOnnxFloat, {}, {0.5F})
        .node(OnnxNode("Mul", {"p", "half"}, {"z"}))
        .agree();
    BothWays()
        .input("a", {4, 2, 3})
        .input("b", {2, 3, 5})
        .node(fused("FusedMatMul", {"a", "b"}).integer("transBatchA", 1))
        .node(OnnxNode("Transpose", {"a"}, {"at"}).integers("perm", {1, 0, 2}))
        .node(OnnxNode("MatMul", {"at", "b"}, {"z"}))
        .agree();
    BothWays()
        .input("a", {2, 3})
        .input("b", {3, 4})
        .input("c", {4})
        .node(fused("FusedGemm", {"a", "b", "c"})
                  .string("activation", "LeakyRelu")
                  .real("activation_alpha", 0.5F))
        .node(OnnxNode("Gemm", {"a", "b", "c"}, {"g"}))
        .node(OnnxNode("LeakyRelu", {"g"}, {"z"}).real("alpha", 0.5F))
        .agree();
}

TEST(MicrosoftOperators, FusedConvolution) {
    BothWays()
        .input("x", {1, 2, 4, 4})
        .input("w", {3, 2, 3, 3})
        .input("b", {3})
        .input("r", {1, 3, 4, 4})
        .node(fused("FusedConv", {"x", "w", "b", "r"})
                  .integers("pads", {1, 1, 1, 1})
                  .string("activation", "Relu"))
        .node(OnnxNode("Conv", {"x", "w", "b"}, {"c"}).integers("pads", {1, 1, 1, 1}))
        .node(OnnxNode("Add", {"c", "r"}, {"s"}))
        .node(OnnxNode("Relu", {"s"}, {"z"}))
        .agree();
}

// Two blocks of 16 along k, the second half used; every weight is written out.
TEST(MicrosoftOperators, WeightsOfFewBits) {
    for (const bool has_zeros : {false, true}) {
        constexpr int64_t kN = 3, kK = 24, kBlock = 16;
        std::vector<uint8_t> packed, zeros = {0x91, 0x37, 0xF4};
        std::vector<float> scales, weights(kK * kN);
        for (int64_t i = 0; i < kN * 2 * kBlock / 2; ++i) packed.push_back(static_cast<uint8_t>(37 * i + 11));
        for (int64_t i = 0; i < kN * 2; ++i) scales.push_back(0.1F + 0.05F * static_cast<float>(i));
        for (int64_t n = 0; n < kN; ++n)
            for (int64_t k = 0; k < kK; ++k) {
                const auto row = static_cast<size_t>(n), block = static_cast<size_t>(k / kBlock);
                const auto byte = packed[row * kBlock + static_cast<size_t>(k) / 2];
                const int zero = has_zeros ? (block == 0 ? zeros[row] & 15 : zeros[row] >> 4) : 8;
                weights[static_cast<size_t>(k) * kN + row] =
                    static_cast<float>((k % 2 == 0 ? byte & 15 : byte >> 4) - zero) * scales[row * 2 + block];
            }
        BothWays both;
        both.input("a", {2, kK})
            .known<uint8_t>("b", test::kOnnxUint8, {kN, 2, kBlock / 2}, packed)
            .known<float>("s", test::kOnnxFloat, {kN * 2}, scales)
            .known<uint8_t>("o", test::kOnnxUint8, {kN}, zeros)
            .known<float>("w", test::kOnnxFloat, {kK, kN}, weights)
            .node(fused("MatMulNBits", has_zeros ? std::vector<std::string>{"a", "b", "s", "o"}
                                                 : std::vector<std::string>{"a", "b", "s"})
                      .integer("N", kN)
                      .integer("K", kK)
                      .integer("bits", 4)
                      .integer("block_size", kBlock))
            .node(OnnxNode("MatMul", {"a", "w"}, {"z"}))
            .agree();
    }
}

TEST(MicrosoftOperators, Normalisations) {
    BothWays()
        .input("x", {2, 3, 4})
        .input("s", {2, 3, 4})
        .input("g", {4})
        .input("h", {4})
        .input("b", {4})
        .node(fused("SkipLayerNormalization", {"x", "s", "g", "h", "b"}, {"y", "", "", "y2"})
                  .real("epsilon", 1e-5F))
        .node(OnnxNode("Add", {"x", "s"}, {"p"}))
        .node(OnnxNode("Add", {"p", "b"}, {"z2"}))
        .node(OnnxNode("LayerNormalization", {"z2", "g", "h"}, {"z"}))
        .node(fused("SkipSimplifiedLayerNormalization", {"x", "s", "g"}, {"y3", "", "", "y4"})
                  .real("epsilon", 1e-5F))
        .node(OnnxNode("RMSNormalization", {"p", "g"}, {"z3"}))
        .node(OnnxNode("Identity", {"p"}, {"z4"}))
        .node(OnnxNode("SimplifiedLayerNormalization", {"p", "g"}, {"y5"}))
        .node(OnnxNode("Identity", {"z3"}, {"z5"}))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2", "y3", "z3", "y4", "z4", "y5", "z5"});
}

TEST(MicrosoftOperators, Embeddings) {
    BothWays()
        .given("ids", {2, 3}, test::kOnnxInt32, {0, 4, 2, 1, 1, 3})
        .given("segments", {2, 3}, test::kOnnxInt32, {0, 0, 1, 1, 0, 1})
        .given("mask", {2, 3}, test::kOnnxInt32, {1, 1, 0, 1, 0, 0})
        .input("words", {5, 4})
        .input("places", {6, 4})
        .input("kinds", {2, 4})
        .input("g", {4})
        .input("h", {4})
        .node(fused("EmbedLayerNormalization",
                    {"ids", "segments", "words", "places", "kinds", "g", "h", "mask"}, {"y", "counts"})
                  .real("epsilon", 1e-5F))
        .known<int64_t>("first", test::kOnnxInt64, {3}, {0, 1, 2})
        .node(OnnxNode("Gather", {"words", "ids"}, {"w"}))
        .node(OnnxNode("Gather", {"places", "first"}, {"p"}))
        .node(OnnxNode("Gather", {"kinds", "segments"}, {"k"}))
        .node(OnnxNode("Add", {"w", "p"}, {"wp"}))
        .node(OnnxNode("Add", {"wp", "k"}, {"s"}))
        .node(OnnxNode("LayerNormalization", {"s", "g", "h"}, {"z"}))
        .node(OnnxNode("Cast", {"counts"}, {"y2"}).integer("to", test::kOnnxFloat))
        .known<float>("expected", test::kOnnxFloat, {2}, {2, 1})
        .node(OnnxNode("Identity", {"expected"}, {"z2"}))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2"});
}

// A key that the mask leaves out has no weight beside others.
TEST(MicrosoftOperators, AttentionWithAMask) {
    BothWays both;
    both.input("x", {1, 3, 4})
        .input("w", {4, 12})
        .input("b", {12})
        .given("mask", {1, 3}, test::kOnnxInt32, {1, 1, 0})
        .node(
            fused("Attention", {"x", "w", "b", "mask"}).integer("num_heads", 2).integer("unidirectional", 1))
        .node(OnnxNode("MatMul", {"x", "w"}, {"p"}))
        .node(OnnxNode("Add", {"p", "b"}, {"all"}))
        .known<int64_t>("widths", test::kOnnxInt64, {3}, {4, 4, 4})
        .node(OnnxNode("Split", {"all", "widths"}, {"q", "k", "v"}).integer("axis", 2))
        .node(OnnxNode("Cast", {"mask"}, {"truths"}).integer("to", test::kOnnxBool))
        .node(OnnxNode("Attention", {"q", "k", "v", "truths"}, {"z"})
                  .integer("q_num_heads", 2)
                  .integer("kv_num_heads", 2)
                  .integer("is_causal", 1))
        .node(fused("MultiHeadAttention", {"q", "k", "v", "", "mask"}, {"y2"}).integer("num_heads", 2))
        .node(OnnxNode("Attention", {"q", "k", "v", "truths"}, {"z2"})
                  .integer("q_num_heads", 2)
                  .integer("kv_num_heads", 2))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2"});
}

TEST(MicrosoftOperators, GroupedQueriesBehindACache) {
    BothWays()
        .input("q", {1, 2, 8})
        .input("k", {1, 2, 4})
        .input("v", {1, 2, 4})
        .input("pk", {1, 1, 3, 4})
        .input("pv", {1, 1, 3, 4})
        .given("last", {1}, test::kOnnxInt32, {4})
        .known<int32_t>("total", test::kOnnxInt32, {}, {5})
        .node(fused("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "last", "total"}, {"y", "y2", "y3"})
                  .integer("num_heads", 2)
                  .integer("kv_num_heads", 1))
        .node(OnnxNode("Attention", {"q", "k", "v", "", "pk", "pv"}, {"z", "z2", "z3"})
                  .integer("q_num_heads", 2)
                  .integer("kv_num_heads", 1)
                  .integer("is_causal", 1))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2", "y3", "z3"});
}

TEST(MicrosoftOperators, RotaryEmbedding) {
    BothWays()
        .input("x", {2, 3, 8})
        .given("first", {1}, test::kOnnxInt64, {2})
        .input("cos", {6, 2})
        .input("sin", {6, 2})
        .node(fused("RotaryEmbedding", {"x", "first", "cos", "sin"}).integer("interleaved", 1))
        .known<int64_t>("places", test::kOnnxInt64, {2, 3}, {2, 3, 4, 2, 3, 4})
        .node(OnnxNode("RotaryEmbedding", {"x", "cos", "sin", "places"}, {"z"})
                  .integer("interleaved", 1)
                  .integer("num_heads", 2))
        .agree();
}

/// Parameters of quantised operators: scale and zero point of a, b and the result.
BothWays quantised() {
    BothWays both;
    both.input("a", {2, 3, 4, 4}, test::kOnnxUint8)
        .input("b", {3, 1, 1}, test::kOnnxUint8)
        .known<float>("as", test::kOnnxFloat, {}, {0.25F})
        .known<uint8_t>("az", test::kOnnxUint8, {}, {9})
        .known<float>("bs", test::kOnnxFloat, {}, {0.5F})
        .known<uint8_t>("bz", test::kOnnxUint8, {}, {3})
        .known<float>("ys", test::kOnnxFloat, {}, {0.125F})
        .known<uint8_t>("yz", test::kOnnxUint8, {}, {100})
        .node(OnnxNode("DequantizeLinear", {"a", "as", "az"}, {"fa"}))
        .node(OnnxNode("DequantizeLinear", {"b", "bs", "bz"}, {"fb"}));
    return both;
}

TEST(MicrosoftOperators, QuantisedArithmetic) {
    for (const auto& [op, plain] : {std::pair("QLinearAdd", "Add"), {"QLinearMul", "Mul"}})
        quantised()
            .node(fused(op, {"a", "as", "az", "b", "bs", "bz", "ys", "yz"}))
            .node(OnnxNode(plain, {"fa", "fb"}, {"f"}))
            .node(OnnxNode("QuantizeLinear", {"f", "ys", "yz"}, {"z"}))
            .agree(test::kOnnxUint8);
    for (const auto& [op, plain] : {std::pair("QLinearSigmoid", "Sigmoid"),
                                    {"QLinearLeakyRelu", "LeakyRelu"},
                                    {"QLinearSoftmax", "Softmax"},
                                    {"QLinearGlobalAveragePool", "GlobalAveragePool"}})
        quantised()
            .node(fused(op, {"a", "as", "az", "ys", "yz"}))
            .node(OnnxNode(plain, {"fa"}, {"f"}))
            .node(OnnxNode("QuantizeLinear", {"f", "ys", "yz"}, {"z"}))
            .agree(test::kOnnxUint8);
    quantised()
        .node(fused("QLinearConcat", {"ys", "yz", "a", "as", "az", "a", "bs", "bz"}).integer("axis", 1))
        .node(OnnxNode("DequantizeLinear", {"a", "bs", "bz"}, {"fc"}))
        .node(OnnxNode("Concat", {"fa", "fc"}, {"f"}).integer("axis", 1))
        .node(OnnxNode("QuantizeLinear", {"f", "ys", "yz"}, {"z"}))
        .agree(test::kOnnxUint8);
}

TEST(MicrosoftOperators, QuantisedProducts) {
    BothWays()
        .input("x", {2, 3})
        .input("b", {3, 4}, test::kOnnxUint8)
        .input("bias", {4})
        .known<float>("bs", test::kOnnxFloat, {4}, {0.5F, 0.25F, 1, 2})
        .known<uint8_t>("bz", test::kOnnxUint8, {4}, {3, 1, 0, 7})
        .node(fused("DynamicQuantizeMatMul", {"x", "b", "bs", "bz", "bias"}))
        .node(OnnxNode("DynamicQuantizeLinear", {"x"}, {"a", "as", "az"}))
        .node(OnnxNode("MatMulInteger", {"a", "b", "az", "bz"}, {"i"}))
        .node(OnnxNode("Cast", {"i"}, {"f"}).integer("to", test::kOnnxFloat))
        .node(OnnxNode("Mul", {"f", "as"}, {"fa"}))
        .node(OnnxNode("Mul", {"fa", "bs"}, {"fb"}))
        .node(OnnxNode("Add", {"fb", "bias"}, {"z"}))
        .node(fused("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz", "bias"}, {"y2"}))
        .node(OnnxNode("Identity", {"z"}, {"z2"}))
        .agree(test::kOnnxFloat, {"y", "z", "y2", "z2"});
    BothWays()
        .input("x", {1, 2, 4}, test::kOnnxUint8)
        .input("w", {4, 12}, test::kOnnxInt8)
        .input("b", {12})
        .known<float>("xs", test::kOnnxFloat, {}, {0.02F})
        .known<float>("ws", test::kOnnxFloat, {}, {0.03F})
        .known<uint8_t>("xz", test::kOnnxUint8, {}, {5})
        .known<int8_t>("wz", test::kOnnxInt8, {}, {0})
        .node(fused("QAttention", {"x", "w", "b", "xs", "ws", "", "xz", "wz"}).integer("num_heads", 2))
        .node(OnnxNode("DequantizeLinear", {"x", "xs", "xz"}, {"fx"}))
        .node(OnnxNode("DequantizeLinear", {"w", "ws", "wz"}, {"fw"}))
        .node(fused("Attention", {"fx", "fw", "b"}, {"z"}).integer("num_heads", 2))
        .agree();
}

TEST(MicrosoftOperators, WhatIsLeftOutIsNamed) {
    const auto problem = [](const OnnxNode& node) {
        return BothWays()
            .input("x", {1, 2, 4})
            .input("w", {4, 12})
            .input("b", {12})
            .known<int64_t>("p", test::kOnnxInt64, {1}, {0})
            .input("t", {2, 1})
            .node(node)
            .problem();
    };
    EXPECT_THAT(problem(fused("Attention", {"x", "w", "b"}).integer("num_heads", 2).integer("do_rotary", 1)),
                HasSubstr("turns its queries itself"));
    EXPECT_THAT(problem(fused("RotaryEmbedding", {"x", "p", "t", "t"}).integer("is_packed_batching", 1)),
                HasSubstr("packs sequences of several lengths"));
    EXPECT_THAT(problem(fused("BeamSearch", {"x"})), HasSubstr("com.microsoft.BeamSearch"));
}

}  // namespace
}  // namespace tessera::import::onnx
