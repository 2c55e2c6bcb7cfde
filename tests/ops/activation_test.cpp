#include "ops/activation.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr int64_t kWidth = 64;

/// x -> numbers and scales.
Graph rounded_graph(const Activation& form) {
    Graph graph;
    graph.name = "rounded";
    graph.values.push_back(
        {"x", ValueKind::kInput, {.element = ElementType::kF32, .shape = {Dim(2), kWidth}}});
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

// Two rows: numbers of very different blocks, and a row that is 0 but for one number.
TEST(Activation, BlocksAreRoundedToWithinHalfOfTheirScale) {
    const Graph graph = rounded_graph(kInt8Blocks);
    verify(graph, "rounded");
    std::mt19937 random(3);
    TensorData x{{2, kWidth}, std::vector<double>(2 * kWidth)};
    for (int64_t i = 0; i < kWidth; ++i)
        x.values[static_cast<size_t>(i)] =
            static_cast<float>((random() % 2001 / 1000.0 - 1) * (i < 32 ? 1e-3 : 40));
    x.values[kWidth + 40] = -3;
    GraphCall call;
    call.inputs = {{"x", x}};
    const GraphResult result = interpret_graph(graph, call);
    const TensorData &numbers = result.outputs[0], &scales = result.outputs[1];
    EXPECT_EQ(scales.shape, (std::vector<int64_t>{2, 2}));
    for (size_t i = 0; i < x.values.size(); ++i) {
        const double scale = scales.values[i / 32];
        EXPECT_LE(std::fabs(numbers.values[i]), 127);
        EXPECT_LE(std::fabs(x.values[i] - numbers.values[i] * scale), 0.5001 * scale) << i;
    }
    EXPECT_EQ(numbers.values[kWidth + 40], -127);
    EXPECT_FLOAT_EQ(static_cast<float>(scales.values[3]), 3.0f / 127);
    EXPECT_EQ(scales.values[2], 0);
    EXPECT_EQ(numbers.values[kWidth], 0);
}

TEST(Activation, WidthsThatBlocksDoNotDivideAreRefused) {
    EXPECT_THROW((void)rounded_graph({ElementType::kI8, 48}), Error);
}

}  // namespace
}  // namespace tessera::ops
