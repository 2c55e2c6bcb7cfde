// Windows along extents that are multiples of a symbol mean what they mean in models of each size.
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using ::testing::HasSubstr;

constexpr int64_t kStep = 8;

test::ProtoText weights(const char* name, const std::vector<int64_t>& shape) {
    std::vector<float> values;
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 7) - 3);
    return test::onnx_tensor<float>(name, test::kOnnxFloat, shape, values);
}

OnnxBuilder model_of(const OnnxNode& node) {
    return OnnxBuilder()
        .symbolic_input("x", test::kOnnxFloat, {"1", "2", "6", "wide"})
        .output("y", test::kOnnxFloat, {})
        .initializer(weights("w", {4, 2, 3, 3}))
        .initializer(weights("t", {2, 3, 2, 2}))
        .initializer(test::onnx_tensor<float>("twice", test::kOnnxFloat, {4}, {1, 1, 2, 3}))
        .initializer(test::onnx_tensor<float>("none", test::kOnnxFloat, {0}, {}))
        .node(node);
}

ImportedModel symbolic(const OnnxNode& node) {
    return imported(model_of(node), {.dims = {{"wide", {.low = kStep, .high = 5 * kStep, .step = kStep}}}});
}

/// @param extent that the result has along its last axis for one of 8
void expect_same(const OnnxNode& node, int64_t extent) {
    const ImportedModel model = symbolic(node);
    ASSERT_TRUE(model.unsupported.empty()) << print(model.unsupported[0]);
    for (int64_t steps = 1; steps <= 5; ++steps) {
        const int64_t wide = steps * kStep;
        const TensorData x{{1, 2, 6, wide}, test::counted(static_cast<size_t>(12 * wide), -9, 0.25)};
        const TensorData
            got = test::run(model, {{"x", x}}, {{"wide", steps}}).at(0),
            want = test::run(imported(model_of(node), {.dims = {{"wide", {wide, wide}}}}), {{"x", x}}).at(0);
        EXPECT_EQ(got.shape, want.shape);
        EXPECT_EQ(got.shape.back(), extent * steps);
        EXPECT_EQ(got.values, want.values) << wide;
    }
}

void expect_refused(const OnnxNode& node, const std::string& reason) {
    const ImportedModel model = symbolic(node);
    ASSERT_EQ(model.unsupported.size(), 1U);
    EXPECT_THAT(print(model.unsupported[0]), HasSubstr(reason));
}

OnnxNode conv(const std::vector<int64_t>& strides, const std::vector<int64_t>& pads) {
    return OnnxNode("Conv", {"x", "w"}, {"y"}).integers("strides", strides).integers("pads", pads);
}

OnnxNode pool(const char* kind, int64_t kernel, int64_t stride, int64_t pad) {
    return OnnxNode(kind, {"x"}, {"y"})
        .integers("kernel_shape", {kernel, kernel})
        .integers("strides", {stride, stride})
        .integers("pads", {pad, pad, pad, pad});
}

OnnxNode resize(const char* coordinates, const char* nearest) {
    return OnnxNode("Resize", {"x", "none", "twice"}, {"y"})
        .string("coordinate_transformation_mode", coordinates)
        .string("nearest_mode", nearest);
}

TEST(OnnxWindows, ConvolutionsAlongASymbol) {
    expect_same(conv({1, 1}, {1, 1, 1, 1}), 8);
    expect_same(conv({2, 2}, {1, 1, 1, 1}), 4);
    expect_same(conv({2, 4}, {0, 1, 0, 1}), 2);
    expect_same(
        OnnxNode("Conv", {"x", "w"}, {"y"}).string("auto_pad", "SAME_UPPER").integers("strides", {1, 2}), 4);
    expect_same(
        OnnxNode("Conv", {"x", "w"}, {"y"}).string("auto_pad", "SAME_LOWER").integers("strides", {2, 2}), 4);
    expect_same(OnnxNode("ConvTranspose", {"x", "t"}, {"y"}).integers("strides", {2, 2}), 16);
    expect_same(OnnxNode("ConvTranspose", {"x", "t"}, {"y"})
                    .integers("strides", {1, 1})
                    .integers("pads", {0, 1, 0, 0}),
                8);
}

TEST(OnnxWindows, PoolingAlongASymbol) {
    expect_same(pool("MaxPool", 3, 2, 1), 4);
    expect_same(pool("MaxPool", 2, 2, 0), 4);
    expect_same(pool("AveragePool", 2, 2, 0), 4);
    expect_same(pool("AveragePool", 3, 1, 1).integer("count_include_pad", 1), 8);
    expect_same(pool("LpPool", 2, 2, 0), 4);
}

TEST(OnnxWindows, ElementsAreRepeatedAlongASymbol) {
    expect_same(resize("asymmetric", "floor"), 24);
    expect_same(resize("half_pixel", "round_prefer_floor"), 24);
    expect_same(resize("pytorch_half_pixel", "round_prefer_ceil"), 24);
}

TEST(OnnxWindows, MeansOfSeveralSymbols) {
    const ImportedModel model =
        imported(OnnxBuilder()
                     .symbolic_input("x", test::kOnnxFloat, {"1", "2", "high", "wide"})
                     .output("y", test::kOnnxFloat, {})
                     .node(OnnxNode("GlobalAveragePool", {"x"}, {"y"})),
                 {.dims = {{"high", {4, 12, 4}}, {"wide", {8, 24, 8}}}});
    EXPECT_EQ(test::run(model, {{"x", {{1, 2, 8, 16}, test::counted(256, 0, 1)}}}, {{"high", 2}, {"wide", 2}})
                  .at(0)
                  .values,
              (std::vector<double>{63.5, 191.5}));
}

TEST(OnnxWindows, WhatIsNoMultipleIsRefused) {
    expect_refused(conv({1, 1}, {0, 0, 0, 0}),
                   "makes the extent 8 * wide + -2, expected a number or a multiple");
    expect_refused(conv({1, 3}, {1, 1, 1, 1}), "has windows 3 apart along its extent 8 * wide");
    expect_refused(pool("AveragePool", 3, 1, 1), "needs a number as its extent 8 * wide along axis 3");
    expect_refused(OnnxNode("MaxPool", {"x"}, {"y", "at"}).integers("kernel_shape", {1, 1}),
                   "needs a number");
    expect_refused(resize("align_corners", "floor"), "needs a number as its extent 8 * wide along axis 3");
    const ImportedModel odd =
        imported(model_of(conv({1, 1}, {1, 1, 1, 1})), {.dims = {{"wide", {8, 20, 8}}}});
    EXPECT_THAT(print(odd.unsupported.at(0)), HasSubstr("from 8 to 20, expected multiples of its step 8"));
}

}  // namespace
}  // namespace tessera::import::onnx
