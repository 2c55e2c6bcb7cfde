#include "import/onnx/import_onnx.h"

#include <cmath>

#include <gtest/gtest.h>

#include "import/onnx/imported.h"

namespace tessera::import::onnx {
namespace {

using test::counted;
using test::imported;
using test::OnnxBuilder;
using test::OnnxNode;
using test::ProtoText;
using test::run;

TEST(ImportOnnx, BroadcastsFromTheLastAxis) {
    const ImportedModel model = imported(OnnxBuilder()
                                             .input("a", test::kOnnxFloat, {2, 1, 3})
                                             .input("b", test::kOnnxFloat, {2, 1})
                                             .output("y", test::kOnnxFloat, {2, 2, 3})
                                             .node(OnnxNode("Sub", {"a", "b"}, {"y"})));
    const auto y = run(model, {{"a", {{2, 1, 3}, counted(6)}}, {"b", {{2, 1}, {10, 20}}}}).at(0);
    EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 2, 3}));
    for (size_t i = 0; i < 2; ++i)
        for (size_t j = 0; j < 2; ++j)
            for (size_t k = 0; k < 3; ++k)
                EXPECT_EQ(y.values[(i * 2 + j) * 3 + k], counted(6)[i * 3 + k] - (j == 0 ? 10 : 20));
}

TEST(ImportOnnx, IntegersWrapAroundAndDivideTowardsZero) {
    const auto of = [&](const char* op, double a, double b) {
        const ImportedModel model = imported(OnnxBuilder()
                                                 .input("a", test::kOnnxInt8, {1})
                                                 .input("b", test::kOnnxInt8, {1})
                                                 .output("y", test::kOnnxInt8, {1})
                                                 .node(OnnxNode(op, {"a", "b"}, {"y"})));
        return run(model, {{"a", {{1}, {a}}}, {"b", {{1}, {b}}}}).at(0).values.at(0);
    };
    EXPECT_EQ(of("Add", 100, 100), -56);
    EXPECT_EQ(of("Mul", -128, -1), -128);
    EXPECT_EQ(of("Div", -7, 2), -3);
    EXPECT_EQ(of("Div", 7, -2), -3);
    EXPECT_EQ(of("Mod", -7, 2), 1);
    EXPECT_EQ(of("Mod", 7, -2), -1);
}

/// A table of bytes that is dequantised is computed in F32, which holds them: so readers may take it over.
TEST(ImportOnnx, BytesAreCastInF32) {
    const ImportedModel model = imported(OnnxBuilder()
                                             .input("a", test::kOnnxInt8, {4})
                                             .output("y", test::kOnnxFloat, {4})
                                             .node(OnnxNode("Cast", {"a"}, {"y"}).integer("to", 1)));
    EXPECT_EQ(model.graph.blocks.front().nodes.front().definition()->accumulator, ElementType::kF32);
    const auto y = run(model, {{"a", {{4}, {-128, -1, 0, 127}}}}).at(0);
    EXPECT_EQ(y.values, (std::vector<double>{-128, -1, 0, 127}));
}

/// Every padding, stride, dilation and group of a small convolution, by plain loops.
TEST(ImportOnnx, Convolutions) {
    for (const int64_t group : {1, 2})
        for (const int64_t stride : {1, 2})
            for (const int64_t dilation : {1, 2})
                for (const int64_t begin : {0, 2}) {
                    const int64_t height = 7, width = 6, channels = 4, results = 6, kernel = 2;
                    const ImportedModel model = imported(
                        OnnxBuilder()
                            .input("x", test::kOnnxFloat, {1, channels, height, width})
                            .input("w", test::kOnnxFloat, {results, channels / group, kernel, kernel})
                            .output("y", test::kOnnxFloat, {})
                            .node(OnnxNode("Conv", {"x", "w"}, {"y"})
                                      .integer("group", group)
                                      .integers("strides", {stride, 1})
                                      .integers("dilations", {dilation, 1})
                                      .integers("pads", {begin, 0, 1, 1})));
                    const TensorData x{{1, channels, height, width},
                                       counted(channels * height * width, -5, 0.25)};
                    const TensorData w{
                        {results, channels / group, kernel, kernel},
                        counted(static_cast<size_t>(results * channels / group * 4), -2, 0.125)};
                    const TensorData y = run(model, {{"x", x}, {"w", w}}).at(0);
                    const int64_t rows = (height + begin + 1 - dilation - 1) / stride + 1, columns = width;
                    ASSERT_EQ(y.shape, (std::vector<int64_t>{1, results, rows, columns}));
                    for (int64_t m = 0; m < results; ++m)
                        for (int64_t r = 0; r < rows; ++r)
                            for (int64_t c = 0; c < columns; ++c) {
                                double sum = 0;
                                for (int64_t k = 0; k < channels / group; ++k)
                                    for (int64_t i = 0; i < kernel; ++i)
                                        for (int64_t j = 0; j < kernel; ++j) {
                                            const int64_t at = r * stride + i * dilation - begin, to = c + j;
                                            if (at < 0 || at >= height || to >= width) continue;
                                            const int64_t channel =
                                                m / (results / group) * (channels / group) + k;
                                            sum +=
                                                x.values[static_cast<size_t>((channel * height + at) * width +
                                                                             to)] *
                                                w.values[static_cast<size_t>(
                                                    ((m * channels / group + k) * kernel + i) * kernel + j)];
                                        }
                                EXPECT_NEAR(y.values[static_cast<size_t>((m * rows + r) * columns + c)], sum,
                                            1e-4);
                            }
                }
}

/// Every input reaches the outputs of its window; by plain loops, with each form of the operator.
TEST(ImportOnnx, TransposedConvolutions) {
    for (const int64_t stride : {1, 2, 3})
        for (const int64_t kernel : {1, 2, 3, 5})
            for (const int64_t dilation : {1, 2})
                for (const int64_t begin : {0, 1})
                    for (const int64_t extra : {0, 1}) {
                        const int64_t input = 4, channels = 2, results = 3;
                        const int64_t count =
                            stride * (input - 1) + (kernel - 1) * dilation + 1 + extra - begin;
                        if (extra >= stride || count < 1) continue;
                        const ImportedModel model =
                            imported(OnnxBuilder()
                                         .input("x", test::kOnnxFloat, {1, channels, input})
                                         .input("w", test::kOnnxFloat, {channels, results, kernel})
                                         .output("y", test::kOnnxFloat, {})
                                         .node(OnnxNode("ConvTranspose", {"x", "w"}, {"y"})
                                                   .integers("strides", {stride})
                                                   .integers("dilations", {dilation})
                                                   .integers("pads", {begin, 0})
                                                   .integers("output_padding", {extra})));
                        const TensorData x{{1, channels, input}, counted(8, -1, 0.25)};
                        const TensorData w{{channels, results, kernel},
                                           counted(static_cast<size_t>(channels * results * kernel))};
                        const TensorData y = run(model, {{"x", x}, {"w", w}}).at(0);
                        std::vector<double> expected(static_cast<size_t>(results * count), 0);
                        for (int64_t c = 0; c < channels; ++c)
                            for (int64_t m = 0; m < results; ++m)
                                for (int64_t i = 0; i < input; ++i)
                                    for (int64_t k = 0; k < kernel; ++k) {
                                        const int64_t at = i * stride + k * dilation - begin;
                                        if (at < 0 || at >= count) continue;
                                        expected[static_cast<size_t>(m * count + at)] +=
                                            x.values[static_cast<size_t>(c * input + i)] *
                                            w.values[static_cast<size_t>((c * results + m) * kernel + k)];
                                    }
                        EXPECT_EQ(y.shape, (std::vector<int64_t>{1, results, count}));
                        EXPECT_EQ(y.values, expected);
                    }
}

TEST(ImportOnnx, AveragesCountPaddingButNotWhatCeilAdds) {
    const ImportedModel model = imported(OnnxBuilder(19)
                                             .input("x", test::kOnnxFloat, {1, 1, 6})
                                             .output("y", test::kOnnxFloat, {1, 1, 4})
                                             .node(OnnxNode("AveragePool", {"x"}, {"y"})
                                                       .integers("kernel_shape", {3})
                                                       .integers("strides", {2})
                                                       .integers("pads", {1, 1})
                                                       .integer("ceil_mode", 1)
                                                       .integer("count_include_pad", 1)));
    const auto y = run(model, {{"x", {{1, 1, 6}, {1, 2, 3, 4, 5, 6}}}}).at(0);
    EXPECT_EQ(y.values, (std::vector<double>{1, 3, 5, 3}));
}

/// Version 12 of Softmax sees a matrix; version 13 has one axis.
TEST(ImportOnnx, VersionsOfSoftmax) {
    for (const int64_t opset : {12, 13}) {
        OnnxNode node("Softmax", {"x"}, {"y"});
        node.integer("axis", 1);
        const ImportedModel model = imported(OnnxBuilder(opset)
                                                 .input("x", test::kOnnxFloat, {1, 2, 2})
                                                 .output("y", test::kOnnxFloat, {1, 2, 2})
                                                 .node(node));
        const auto y = run(model, {{"x", {{1, 2, 2}, {0, 0, 0, 0}}}}).at(0);
        EXPECT_NEAR(y.values.at(0), opset == 12 ? 0.25 : 0.5, 1e-6);
    }
}

/// Arithmetic on shapes is done when the model is imported.
TEST(ImportOnnx, ShapesFold) {
    const ImportedModel model =
        imported(OnnxBuilder()
                     .input("x", test::kOnnxFloat, {2, 3, 4})
                     .output("y", test::kOnnxFloat, {2, 12})
                     .initializer(test::onnx_tensor<int64_t>("zero", test::kOnnxInt64, {1}, {0}))
                     .initializer(test::onnx_tensor<int64_t>("minus", test::kOnnxInt64, {1}, {-1}))
                     .node(OnnxNode("Shape", {"x"}, {"s"}))
                     .node(OnnxNode("Gather", {"s", "zero"}, {"b"}))
                     .node(OnnxNode("Concat", {"b", "minus"}, {"t"}).integer("axis", 0))
                     .node(OnnxNode("Reshape", {"x", "t"}, {"y"})));
    EXPECT_EQ(model.graph.blocks.at(0).nodes.size(), 1U);
    const auto y = run(model, {{"x", {{2, 3, 4}, counted(24)}}}).at(0);
    EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 12}));
    EXPECT_EQ(y.values, counted(24));
}

/// Nothing would make the floats of a file powers of two.
TEST(ImportOnnx, InputsOfPowersOfTwoAreRefused) {
    constexpr int32_t kFloat8E8M0 = 24;
    const ImportedModel model =
        imported(OnnxBuilder(24)
                     .input("x", kFloat8E8M0, {2})
                     .output("y", test::kOnnxFloat, {2})
                     .node(OnnxNode("Cast", {"x"}, {"y"}).integer("to", test::kOnnxFloat)));
    ASSERT_FALSE(model.unsupported.empty());
    EXPECT_EQ(print(model.unsupported[0]),
              "input `x` is of FLOAT8E8M0, which is supported in initializers alone");
}

/// Their order is not that of the integers that hold them.
TEST(ImportOnnx, LargeNumbersOfUint64AreReturnedButNotOrdered) {
    const auto problem = [](const char* op, int32_t type, uint64_t number) {
        const ImportedModel model =
            imported(OnnxBuilder()
                         .input("x", test::kOnnxUint64, {1})
                         .output("y", type, {1})
                         .initializer(test::onnx_tensor<uint64_t>("two", test::kOnnxUint64, {}, {number}))
                         .node(OnnxNode("Sub", {"x", "two"}, {"s"}))
                         .node(OnnxNode(op, {"s", "two"}, {"y"})));
        return model.unsupported.empty() ? "" : print(model.unsupported.front());
    };
    for (const char* op : {"Add", "Mul", "Sub"}) EXPECT_EQ(problem(op, test::kOnnxUint64, 2), "") << op;
    EXPECT_EQ(problem("Equal", test::kOnnxBool, 2), "");
    for (const char* op : {"Div", "Mod", "Max"})
        EXPECT_NE(problem(op, test::kOnnxUint64, 2).find("may be 2^63 or more"), std::string::npos) << op;
    EXPECT_NE(problem("Less", test::kOnnxBool, 2).find("may be 2^63 or more"), std::string::npos);
    EXPECT_NE(problem("Add", test::kOnnxUint64, uint64_t{1} << 63).find("expected less than 2^63"),
              std::string::npos);
}

/// One number is asked for: of a tensor without elements, or with several, there is none.
TEST(ImportOnnx, WhatIsNotOneNumberIsRefused) {
    for (const int64_t count : {0, 2}) {
        const ImportedModel model = imported(
            OnnxBuilder()
                .output("y", test::kOnnxInt64, {})
                .initializer(test::onnx_tensor<int64_t>("a", test::kOnnxInt64, {count},
                                                        std::vector<int64_t>(static_cast<size_t>(count), 1)))
                .initializer(test::onnx_tensor<int64_t>("b", test::kOnnxInt64, {}, {3}))
                .node(OnnxNode("Range", {"b", "a", "b"}, {"y"})));
        ASSERT_FALSE(model.unsupported.empty());
        EXPECT_EQ(print(model.unsupported[0]),
                  "node `#0`, Range of opset 17: has an input 1, `a`, that is not one number");
    }
}

TEST(ImportOnnx, EveryNodeThatIsNotSupportedIsNamed) {
    const ImportedModel model = imported(OnnxBuilder()
                                             .input("x", test::kOnnxFloat, {2})
                                             .output("y", test::kOnnxFloat, {2})
                                             .node(OnnxNode("NonZero", {"x"}, {"i"}))
                                             .node(OnnxNode("Frobnicate", {"i"}, {"j"}))
                                             .node(OnnxNode("Relu", {"j"}, {"y"})));
    ASSERT_EQ(model.unsupported.size(), 2U);
    EXPECT_EQ(print(model.unsupported[0]), "node `#0`, NonZero of opset 17: is not supported");
    EXPECT_EQ(print(model.unsupported[1]), "node `#1`, Frobnicate of opset 17: is not supported");
}

TEST(ImportOnnx, FunctionsOfTheModelAreTheirNodes) {
    ProtoText function;
    function.text(1, "Twice")
        .text(4, "a")
        .text(5, "b")
        .text(10, "own")
        .message(9, ProtoText().text(1, "").number(2, 17));
    function.message(7, OnnxNode("Add", {"a", "a"}, {"b"}).text());
    const ImportedModel model = imported(OnnxBuilder()
                                             .input("x", test::kOnnxFloat, {2})
                                             .output("y", test::kOnnxFloat, {2})
                                             .node(OnnxNode("Twice", {"x"}, {"y"}).domain("own"))
                                             .function(function));
    EXPECT_EQ(run(model, {{"x", {{2}, {1, -2}}}}).at(0).values, (std::vector<double>{2, -4}));
}

TEST(ImportOnnx, FunctionsThatCallThemselvesEnd) {
    ProtoText function;
    function.text(1, "Loop").text(4, "a").text(5, "b").text(10, "own").message(
        9, ProtoText().text(1, "own").number(2, 1));
    function.message(7, OnnxNode("Loop", {"a"}, {"b"}).domain("own").text());
    const ImportedModel model = imported(OnnxBuilder()
                                             .input("x", test::kOnnxFloat, {2})
                                             .output("y", test::kOnnxFloat, {2})
                                             .node(OnnxNode("Loop", {"x"}, {"y"}).domain("own"))
                                             .function(function));
    EXPECT_FALSE(model.unsupported.empty());
}

TEST(ImportOnnx, BranchesByKnownConditions) {
    const auto branch = [](const char* op) {
        return OnnxBuilder().output("r", test::kOnnxFloat, {2}).node(OnnxNode(op, {"x"}, {"r"})).graph();
    };
    for (const bool holds : {true, false}) {
        const ImportedModel model = imported(OnnxBuilder()
                                                 .input("x", test::kOnnxFloat, {2})
                                                 .output("y", test::kOnnxFloat, {2})
                                                 .initializer(test::onnx_tensor<uint8_t>(
                                                     "c", test::kOnnxBool, {}, {static_cast<uint8_t>(holds)}))
                                                 .node(OnnxNode("If", {"c"}, {"y"})
                                                           .graph("then_branch", branch("Neg"))
                                                           .graph("else_branch", branch("Abs"))));
        EXPECT_EQ(run(model, {{"x", {{2}, {1, -2}}}}).at(0).values,
                  (holds ? std::vector<double>{-1, 2} : std::vector<double>{1, 2}));
    }
}

TEST(ImportOnnx, SymbolicExtentsNeedBounds) {
    const OnnxBuilder builder = OnnxBuilder()
                                    .symbolic_input("x", test::kOnnxFloat, {"batch"})
                                    .output("y", test::kOnnxFloat, {})
                                    .node(OnnxNode("Exp", {"x"}, {"y"}));
    EXPECT_NE(print(imported(builder).unsupported.at(0)).find("--dim batch"), std::string::npos);
    EXPECT_EQ(run(imported(builder, {.dims = {{"batch", {2, 2}}}}), {{"x", {{2}, {0, 0}}}}).at(0).values,
              (std::vector<double>{1, 1}));
    const ImportedModel ranged = imported(builder, {.dims = {{"batch", {1, 8}}}});
    EXPECT_TRUE(ranged.unsupported.empty());
    EXPECT_EQ(ranged.graph.symbols.size(), 1U);
}

}  // namespace
}  // namespace tessera::import::onnx
