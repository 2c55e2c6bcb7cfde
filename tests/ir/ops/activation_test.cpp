#include "ir/ops/activation.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr int64_t kInputs = 512;

/// x -> numbers and scales.
Graph rounded_graph(const Activation& form) {
    Graph graph;
    graph.name = "rounded";
    graph.values.push_back(
        {"x", ValueKind::kInput, {.element = ElementType::kF32, .shape = {Dim(2), kInputs}}});
    graph.blocks.push_back({.name = "main"});
    BlockBuilder block(graph, graph.blocks[0]);
    graph.outputs = factor_operands(block, "x", {0}, form);
    return graph;
}

TEST(Activation, AsItIsNeedsNothing) {
    const Graph graph = rounded_graph({ElementType::kF32});
    EXPECT_EQ(graph.outputs, std::vector<ValueId>{{0}});
    EXPECT_TRUE(graph.blocks[0].nodes.empty());
}

class Blocks : public ::testing::TestWithParam<Activation> {};

// Two rows: numbers of very different blocks, and a row that is 0 but for one number.
TEST_P(Blocks, AreRoundedToWithinHalfOfTheirScale) {
    const auto radix = static_cast<double>(GetParam().radix);
    const auto block = static_cast<size_t>(GetParam().block), blocks = kInputs / block;
    const bool has_rest = radix > 1;
    const double largest = 127 * radix;
    const Graph graph = rounded_graph(GetParam());
    verify(graph, "rounded");
    std::mt19937 random(3);
    TensorData x{{2, kInputs}, std::vector<double>(2 * kInputs)};
    for (size_t i = 0; i < kInputs; ++i)
        x.values[i] = static_cast<float>((random() % 2001 / 1000.0 - 1) * (i < block ? 1e-3 : 40));
    x.values[kInputs + block + 8] = -3;
    GraphCall call;
    call.inputs = {{"x", x}};
    const GraphResult result = interpret_graph(graph, call);
    const TensorData& scales = result.outputs.back();
    EXPECT_EQ(scales.shape, (std::vector<int64_t>{2, static_cast<int64_t>(blocks)}));
    std::vector<double> numbers = result.outputs[0].values;
    for (size_t i = 0; has_rest && i < numbers.size(); ++i)
        numbers[i] = radix * numbers[i] + result.outputs[1].values[i];
    for (size_t i = 0; i < x.values.size(); ++i) {
        const double scale = scales.values[i / block];
        // A rest of 128 becomes 127.
        EXPECT_LE(std::fabs(x.values[i] - numbers[i] * scale), (has_rest ? 1.01 : 0.5001) * scale) << i;
    }
    EXPECT_EQ(numbers[kInputs + block + 8], -largest);
    EXPECT_FLOAT_EQ(static_cast<float>(scales.values[blocks + 1]), static_cast<float>(3 / largest));
    EXPECT_EQ(scales.values[blocks], 0);
    EXPECT_EQ(numbers[kInputs], 0);
}

INSTANTIATE_TEST_SUITE_P(Radix, Blocks, ::testing::Values(kInt8Blocks, kInt15Blocks, kInt13Blocks),
                         [](const auto& test) { return std::to_string(test.param.radix); });

TEST(Activation, BlocksThatDivideTheWidth) {
    EXPECT_EQ(fitted(kInt15Blocks, 3072).block, 256);
    EXPECT_EQ(fitted(kInt15Blocks, 576).block, 64);
    EXPECT_EQ(fitted(kInt8Blocks, 576).block, 32);
}

TEST(Activation, WidthsThatBlocksDoNotDivideAreRefused) {
    EXPECT_THROW((void)rounded_graph({ElementType::kI8, 48}), Error);
}

}  // namespace
}  // namespace tessera::ops
