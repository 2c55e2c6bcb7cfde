#include "search/rules/compose_maps.h"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"

namespace tessera::rules {
namespace {

size_t nodes_of(const Graph& graph) {
    return graph.blocks.front().nodes.size();
}

/// Numbers that arithmetic does not round much; indices below 4.
GraphCall call_of(const Graph& graph, int64_t n, std::mt19937& random) {
    GraphCall call;
    call.symbols = {{"n", n}};
    for (const Value& value : graph.values) {
        if (value.kind != ValueKind::kInput) continue;
        TensorData data{evaluate(value.type.shape, call.symbols), {}};
        int64_t count = 1;
        for (const int64_t extent : data.shape) count *= extent;
        for (int64_t i = 0; i < count; ++i)
            data.values.push_back(is_integer(value.type.element)
                                      ? static_cast<double>(random() % 4)
                                      : static_cast<double>(random() % 64) * 0.25 - 8);
        call.inputs[value.name] = std::move(data);
    }
    return call;
}

/// The composed graph, which computes the same. @return the number of nodes that are left
size_t composed(const std::string& text) {
    const Graph graph = parse_graph(text, "test");
    verify(graph, "test");
    const std::optional<Graph> changed = with_composed_maps(graph);
    if (!changed) return nodes_of(graph);
    verify(*changed, "test");
    EXPECT_FALSE(with_composed_maps(*changed)) << print(*changed);
    std::mt19937 random(5);
    for (const int64_t n : {1, 3, 5}) {
        const GraphCall call = call_of(graph, n, random);
        const GraphResult before = interpret_graph(graph, call), after = interpret_graph(*changed, call);
        for (size_t i = 0; i < before.outputs.size(); ++i)
            EXPECT_EQ(after.outputs[i].values, before.outputs[i].values) << print(*changed);
    }
    return nodes_of(*changed);
}

/// A graph of these nodes, in order: "name(operands) -> value type: definition".
struct MapStep {
    std::string operands, result, type, definition;
};
std::string graph_of_maps(const std::string& inputs, const std::vector<MapStep>& steps,
                          const std::string& outputs) {
    std::string text = "graph \"g\"\nsymbol n in 1..5\n\n" + inputs, nodes;
    for (const MapStep& step : steps) {
        text += fmt::format("value {}: {}\n", step.result, step.type);
        nodes += fmt::format("  node {0}({1}) -> {0}\n{2}", step.result, step.operands, step.definition);
    }
    return text + "\nblock main\n" + nodes + "\n" + outputs;
}

const std::string kMapHead = "    op f(i: n, j: 6)\n    dim n in 1..5\n";
const std::string kMapInputs = "input X: f32[n, 6]\ninput Z: f32[6]\n", kMapType = "f32[n, 6]";
const MapStep kScaled{"X, Z", "a", kMapType,
                      kMapHead + "    in X f32[i, j]\n    in Z f32[j]\n    out Y f32[i, j] = X * Z\n"};
const MapStep kShifted{"a", "b", kMapType, kMapHead + "    in X f32[i, j]\n    out Y f32[i, j] = X + 0.5\n"};

TEST(ComposeMaps, AChainIsOneOperator) {
    const MapStep last{
        "b, X", "c", kMapType,
        kMapHead + "    in A f32[i, j]\n    in Z f32[i, j]\n    out Y f32[i, j] = max(A, -Z)\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, kShifted, last}, "output c\n")), 1U);
    const Graph one = *with_composed_maps(
        parse_graph(graph_of_maps(kMapInputs, {kScaled, kShifted, last}, "output c\n"), "test"));
    EXPECT_EQ(one.blocks.front().nodes.front().operands.size(), 2U) << "X is read once\n" << print(one);
}

TEST(ComposeMaps, WhatOthersReadStays) {
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, kShifted}, "output a\noutput b\n")), 2U);
    const MapStep square{"a, a", "b", kMapType,
                         kMapHead + "    in A f32[i, j]\n    in Z f32[i, j]\n    out Y f32[i, j] = A * Z\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, square}, "output b\n")), 2U);
    const MapStep twice{"a", "b", kMapType, kMapHead + "    in A f32[i, j]\n    out Y f32[i, j] = A * A\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, twice}, "output b\n")), 2U) << "computed twice";
    const MapStep sum{"a", "b", "f32[n]",
                      "    op g(i: n, j*: 6)\n    dim n in 1..5\n    in A f32[i, j]\n"
                      "    out Y f32[i] = sum(A)\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, sum}, "output b\n")), 2U) << "a fold";
}

TEST(ComposeMaps, NothingIsComputedTwice) {
    const MapStep row{"Z", "a", "f32[6]", "    op f(j: 6)\n    in Z f32[j]\n    out Y f32[j] = exp(Z)\n"};
    const MapStep each{"X, a", "b", kMapType,
                       kMapHead + "    in X f32[i, j]\n    in A f32[j]\n    out Y f32[i, j] = X * A\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {row, each}, "output b\n")), 2U);
}

/// The rows of a table are multiplied behind the lookup.
TEST(ComposeMaps, RowsAreDequantisedWhereTheyAreRead) {
    const MapStep table{"Q, S", "a", "f32[40, 6]",
                        "    op f(r: 40, j: 6)\n    in Q i8[r, j]\n    in S f32[r, 0] of [40, 1]\n"
                        "    out Y f32[r, j] = Q * S\n"};
    const MapStep rows{"I, a", "b", kMapType,
                       "    op g(i: n, j: 6)\n    dim n in 1..5\n    index I i32[i]\n"
                       "    in X f32[I[i] mod 40, j] of [40, 6]\n    out Y f32[i, j] = X\n"};
    EXPECT_EQ(composed(graph_of_maps("input Q: i8[40, 6]\ninput S: f32[40, 1]\ninput I: i32[n]\n",
                                     {table, rows}, "output b\n")),
              1U);
}

TEST(ComposeMaps, CopiesInAnotherShapeStayViews) {
    const MapStep joined{
        "a", "b", "f32[n, 2, 3]",
        "    op g(i: n, p: 2, q: 3)\n    dim n in 1..5\n    in X f32[i, p * 3 + q] of [n, 6]\n"
        "    out Y f32[i, p, q] = X\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, joined}, "output b\n")), 2U);
    const MapStep turned{
        "a", "b", "f32[6, n]",
        "    op g(j: 6, i: n)\n    dim n in 1..5\n    in X f32[i, j]\n    out Y f32[j, i] = X\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, turned}, "output b\n")), 1U) << "a transpose";
    const MapStep part{"a", "b", "f32[n, 2]",
                       "    op g(i: n, j: 2)\n    dim n in 1..5\n    in X f32[i, 2 * j + 1] of [n, 6]\n"
                       "    out Y f32[i, j] = X\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, part}, "output b\n")), 1U) << "a slice";
}

/// An element outside of a tensor is 0, and not the producer's value of it.
TEST(ComposeMaps, ReadsOutsideStay) {
    const MapStep shifted{"a", "b", kMapType,
                          kMapHead + "    in X f32[i, j - 1] of [n, 6]\n    out Y f32[i, j] = X + 1\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {kScaled, shifted}, "output b\n")), 2U);
}

/// A value of 16 bits rounds.
TEST(ComposeMaps, NarrowValuesStay) {
    const MapStep narrow{"X, Z", "a", "bf16[n, 6] rounded",
                         kMapHead + "    in X f32[i, j]\n    in Z f32[j]\n    out Y bf16[i, j] = X * Z\n"};
    const MapStep read{"a", "b", kMapType, kMapHead + "    in X bf16[i, j]\n    out Y f32[i, j] = X + 0.5\n"};
    EXPECT_EQ(composed(graph_of_maps(kMapInputs, {narrow, read}, "output b\n")), 2U);
}

/// The fused graph, which computes the same, and parses as it prints.
FusedMaps fused(const std::string& text) {
    const Graph graph = parse_graph(text, "test");
    verify(graph, "test");
    FusedMaps changed = with_fused_maps(graph);
    verify(changed.graph, "test");
    EXPECT_EQ(print(parse_graph(print(changed.graph), "printed")), print(changed.graph));
    EXPECT_TRUE(with_fused_maps(changed.graph).fused.empty()) << print(changed.graph);
    std::mt19937 random(5);
    for (const int64_t n : {1, 3, 5}) {
        const GraphCall call = call_of(graph, n, random);
        const GraphResult before = interpret_graph(graph, call), after = interpret_graph(changed.graph, call);
        for (size_t i = 0; i < before.outputs.size(); ++i)
            EXPECT_EQ(after.outputs[i].values, before.outputs[i].values) << print(changed.graph);
    }
    return changed;
}

const std::string kProductInputs = "input X: f32[n, 6]\ninput Z: f32[6]\ninput W: f32[6, 6]\n";
const MapStep kProduct{
    "X, W", "p", kMapType,
    "    op f(i: n, j: 6, k*: 6)\n    dim n in 1..5\n    in X f32[i, k]\n    in W f32[j, k]\n"
    "    out Y f32[i, j] = sum(X * W)\n"};
const MapStep kAdded{
    "p, X", "r", kMapType,
    kMapHead + "    in P f32[i, j]\n    in X f32[i, j]\n    out Y f32[i, j] = X + P * 0.5\n"};

TEST(FusedMaps, AMapBehindAFoldIsItsPostExpression) {
    const FusedMaps one = fused(graph_of_maps(kProductInputs, {kProduct, kAdded}, "output r\n"));
    ASSERT_EQ(nodes_of(one.graph), 1U) << print(one.graph);
    EXPECT_EQ(one.fused, (std::vector<std::pair<std::string, std::string>>{{"p", "r"}}));
    EXPECT_TRUE(one.graph.blocks.front().nodes.front().definition()->post);
    // Another one behind it, and one in front of its other operand.
    const MapStep scaled{"r, Z", "s", kMapType,
                         kMapHead + "    in R f32[i, j]\n    in Z f32[j]\n    out Y f32[i, j] = max(R, Z)\n"};
    EXPECT_EQ(nodes_of(fused(graph_of_maps(kProductInputs, {kProduct, kAdded, scaled}, "output s\n")).graph),
              1U);
    const MapStep beside{"p, a", "r", kMapType, kAdded.definition};
    EXPECT_EQ(nodes_of(fused(graph_of_maps(kProductInputs, {kScaled, kProduct, beside}, "output r\n")).graph),
              1U);
    // The axes may be turned.
    const MapStep turned{"p", "t", "f32[6, n]",
                         "    op g(j: 6, i: n)\n    dim n in 1..5\n    in X f32[i, j]\n"
                         "    out Y f32[j, i] = X + 1\n"};
    EXPECT_EQ(nodes_of(fused(graph_of_maps(kProductInputs, {kProduct, turned}, "output t\n")).graph), 1U);
}

TEST(FusedMaps, OthersStayApartWithAReason) {
    const auto reason = [](const std::vector<MapStep>& steps, const std::string& outputs) {
        const FusedMaps all = fused(graph_of_maps(kProductInputs, steps, outputs));
        EXPECT_TRUE(all.fused.empty());
        return all.apart.empty() ? std::string("none") : all.apart.front().reason;
    };
    EXPECT_EQ(reason({kProduct, kAdded}, "output r\noutput p\n"),
              "its result is needed outside of the block");
    const MapStep other{"p", "q", kMapType, kMapHead + "    in P f32[i, j]\n    out Y f32[i, j] = P + 1\n"};
    EXPECT_EQ(reason({kProduct, kAdded, other}, "output r\noutput q\n"), "its result is read 2 times");
    const MapStep square{"p", "q", kMapType, kMapHead + "    in P f32[i, j]\n    out Y f32[i, j] = P * P\n"};
    EXPECT_EQ(reason({kProduct, square}, "output q\n"), "an element is read more than once");
    const MapStep part{"p", "q", "f32[n, 2]",
                       "    op g(i: n, j: 2)\n    dim n in 1..5\n    in X f32[i, 2 * j + 1] of [n, 6]\n"
                       "    out Y f32[i, j] = X + 1\n"};
    EXPECT_EQ(reason({kProduct, part}, "output q\n"), "it is not read element by element");
    // A row that every element of a column reads would be summed again for each.
    const MapStep row{
        "X", "p", "f32[n]",
        "    op g(i: n, j*: 6)\n    dim n in 1..5\n    in A f32[i, j]\n    out Y f32[i] = sum(A)\n"};
    const MapStep each{"X, p", "q", kMapType,
                       kMapHead + "    in X f32[i, j]\n    in P f32[i]\n    out Y f32[i, j] = X * P\n"};
    EXPECT_EQ(reason({row, each}, "output q\n"), "it is not read element by element");
}

}  // namespace
}  // namespace tessera::rules
