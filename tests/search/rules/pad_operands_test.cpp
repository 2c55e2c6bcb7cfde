#include "search/rules/pad_operands.h"

#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/graph_interpreter.h"

namespace tessera::rules {
namespace {

struct Fold {
    std::string monoid = "sum", body = "X * W", type = "f32";
    int64_t input = 6, kernel = 3, stride = 1, dilation = 1, before = 1, count = 6;
};

/// One operator along an axis beside a channel.
std::string text_of(const Fold& f, const std::string& more = "") {
    return fmt::format(
        "graph \"g\"\nsymbol n in 1..3\n\ninput X: {0}[n, {1}]\ninput W: {0}[{2}]\nvalue Y: {0}[n, {3}]\n\n"
        "block main\n  node fold(X, W) -> Y\n    op fold(b: n, o: {3}, k*: {2})\n    dim n in 1..3\n"
        "    in X {0}[b, o * {4} + k * {5} - {6}] of [n, {1}]\n    in W {0}[k]\n"
        "    out Y {0}[b, o] = {7}({8})\n{9}\noutput Y\n",
        f.type, f.input, f.kernel, f.count, f.stride, f.dilation, f.before, f.monoid, f.body, more);
}

GraphCall call_of(const Fold& f, int64_t n, std::mt19937& random) {
    const auto values = [&](int64_t count) {
        std::vector<double> all;
        for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(random() % 64) * 0.25 - 8);
        return all;
    };
    GraphCall call;
    call.symbols = {{"n", n}};
    call.inputs = {{"X", {{n, f.input}, values(n * f.input)}}, {"W", {{f.kernel}, values(f.kernel)}}};
    return call;
}

size_t nodes_in(const Graph& graph) {
    return graph.blocks.front().nodes.size();
}

/// Random windows of all folds: the padded graph is exactly equal, and reads nothing outside any more.
TEST(PadOperands, RandomWindowsStayEqual) {
    std::mt19937 random(3);
    const auto among = [&](int64_t low, int64_t high) {
        return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    int padded = 0;
    for (int round = 0; round < 200; ++round) {
        Fold f;
        const char* bodies[][2] = {
            {"sum", "X * W"}, {"max", "X + W"}, {"min", "X - W"}, {"prod", "X + W"}, {"sum", "X * X + W"}};
        const auto& chosen = bodies[among(0, 4)];
        f.monoid = chosen[0];
        f.body = chosen[1];
        f.input = among(1, 9);
        f.kernel = among(1, 5);
        f.stride = among(1, 3);
        f.dilation = among(1, 3);
        f.before = among(0, 6);
        f.count = among(1, 8);
        const Graph graph = parse_graph(text_of(f), "test");
        verify(graph, "test");
        const std::optional<Graph> changed = with_padded_operands(graph);
        if (!changed) continue;
        ++padded;
        verify(*changed, "test");
        EXPECT_FALSE(with_padded_operands(*changed)) << print(*changed);
        for (const int64_t n : {1, 3}) {
            const GraphCall call = call_of(f, n, random);
            EXPECT_EQ(interpret_graph(*changed, call).outputs.front().values,
                      interpret_graph(graph, call).outputs.front().values)
                << print(*changed);
        }
    }
    EXPECT_GT(padded, 50);
}

TEST(PadOperands, TheCopyHasTheMarginsThatAreRead) {
    const Graph padded = *with_padded_operands(parse_graph(text_of({}), "test"));
    const std::string text = print(padded);
    EXPECT_NE(text.find("out P f32[x0, x1 + 1] of [n, 8] = X"), std::string::npos) << text;
    EXPECT_NE(text.find("in X f32[b, o * 1 + k * 1] of [n, 8]"), std::string::npos) << text;
}

TEST(PadOperands, InputsOf16BitsAreCopiedAsTheyAre) {
    std::string text = text_of({});
    for (const std::string f32 : {"input X: f32", "in X f32"})
        text.replace(text.find(f32) + f32.size() - 3, 3, "bf16");
    const Graph padded = *with_padded_operands(parse_graph(text, "test"));
    verify(padded, "test");
    EXPECT_NE(print(padded).find("out P bf16["), std::string::npos) << print(padded);
}

/// The border of a maximum is -inf: the largest of what was negative stays.
TEST(PadOperands, TheBorderIsTheIdentityOfTheFold) {
    const Graph padded =
        *with_padded_operands(parse_graph(text_of({.monoid = "max", .body = "X + W"}), "test"));
    GraphCall call;
    call.symbols = {{"n", 1}};
    call.inputs = {{"X", {{1, 6}, {-5, -4, -3, -2, -1, -6}}}, {"W", {{3}, {0, 0, 0}}}};
    EXPECT_EQ(interpret_graph(padded, call).outputs.front().values,
              (std::vector<double>{-4, -3, -2, -1, -1, -1}));
}

/// Along 4 n elements, n from 2 to 6, the copy has the next multiple of n that has room.
TEST(PadOperands, MarginsAlongASymbol) {
    for (const int64_t stride : {1, 2}) {
        const std::string text = fmt::format(
            "graph \"g\"\nsymbol n in 2..6\n\ninput X: f32[2, 4 * n]\ninput W: f32[7]\nvalue Y: f32[2, {1} * "
            "n]\n\n"
            "block main\n  node fold(X, W) -> Y\n    op fold(b: 2, o: {1} * n, k*: 7)\n    dim n in 2..6\n"
            "    in X f32[b, o * {0} + k - 3] of [2, 4 * n]\n    in W f32[k]\n    out Y f32[b, o] = sum(X * "
            "W)\n"
            "\noutput Y\n",
            stride, 4 / stride);
        const Graph graph = parse_graph(text, "test");
        const Graph padded = *with_padded_operands(graph);
        verify(padded, "test");
        // 6 elements more at stride 1, 5 at stride 2: 3 n of them are the fewest that are enough.
        EXPECT_NE(print(padded).find("X_padded: f32[2, 7 * n]"), std::string::npos) << print(padded);
        EXPECT_FALSE(with_padded_operands(padded)) << print(padded);
        for (int64_t n = 2; n <= 6; ++n) {
            GraphCall call;
            call.symbols = {{"n", n}};
            std::vector<double> x;
            for (int64_t i = 0; i < 8 * n; ++i) x.push_back(static_cast<double>(i * i % 13));
            call.inputs = {{"X", {{2, 4 * n}, x}}, {"W", {{7}, {1, -2, 3, -4, 5, -6, 7}}}};
            EXPECT_EQ(interpret_graph(padded, call).outputs.front().values,
                      interpret_graph(graph, call).outputs.front().values);
        }
    }
}

/// Half of an odd multiple: the margin depends on the symbol.
TEST(PadOperands, MarginsThatChangeWithASymbolStay) {
    EXPECT_FALSE(with_padded_operands(parse_graph(
        "graph \"g\"\nsymbol n in 2..6\n\ninput X: f32[n]\ninput W: f32[3]\nvalue Y: f32[5 * n]\n\n"
        "block main\n  node fold(X, W) -> Y\n    op fold(o: 5 * n, k*: 3)\n    dim n in 2..6\n"
        "    in X f32[o div 2 + k] of [n]\n    in W f32[k]\n    out Y f32[o] = sum(X * W)\n\noutput Y\n",
        "test")));
}

TEST(PadOperands, WhatReadsInsideOrAsksStaysAsItIs) {
    EXPECT_FALSE(with_padded_operands(parse_graph(text_of({.before = 0, .count = 4}), "test")));
    EXPECT_FALSE(with_padded_operands(parse_graph(text_of({}, "    where o < 5\n"), "test")));
    // A type that does not hold -inf.
    EXPECT_FALSE(with_padded_operands(
        parse_graph(text_of({.monoid = "max", .body = "X + W", .type = "i32"}, "    acc i64\n"), "test")));
    // A copy that is larger than what is computed.
    EXPECT_FALSE(with_padded_operands(
        parse_graph(text_of({.input = 100, .kernel = 1, .stride = 50, .before = 1, .count = 2}), "test")));
}

/// Two readers with the same margins share a copy; a maximum has one of its own.
TEST(PadOperands, EqualMarginsShareACopy) {
    std::string text = text_of({});
    const std::string node =
        text.substr(text.find("  node fold"), text.find("\noutput") - text.find("  node fold"));
    const auto again = [&](const std::string& result, const std::string& monoid) {
        std::string more = node;
        more.replace(more.find("fold(X"), 4, "fold_" + result);
        more.replace(more.find("-> Y"), 4, "-> " + result);
        more.replace(more.find("= sum("), 6, "= " + monoid + "(");
        return more;
    };
    text.insert(text.find("\noutput"), again("Z", "sum") + again("M", "max"));
    text.insert(text.find("value Y"), "value Z: f32[n, 6]\nvalue M: f32[n, 6]\n");
    text += "output Z\noutput M\n";
    const Graph padded = *with_padded_operands(parse_graph(text, "test"));
    verify(padded, "test");
    EXPECT_EQ(nodes_in(padded), 5U) << print(padded);
}

}  // namespace
}  // namespace tessera::rules
