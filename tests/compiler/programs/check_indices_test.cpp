#include "compiler/programs/check_indices.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::programs {
namespace {

/// A graph of one operator on `index: i32[4]` and `x: f32[4, 2]`.
std::string graph_of(const std::string& op, const std::string& index = "input index: i32[4]") {
    return R"(graph "g"
)" + index +
           R"(
input x: f32[4, 2]
value y: f32[4, 2]
block main repeat 2
  node pick(index, x) -> y
)" + op;
}

std::string problem(const std::string& text, const std::vector<std::vector<double>>& index) {
    const Graph graph = parse_graph(text, "g.ir");
    verify(graph, "g.ir");
    try {
        check_indices(
            graph, {},
            [&](const Value& value, int64_t repetition) {
                EXPECT_EQ(value.name, "index");
                return TensorData{{4}, index.at(static_cast<size_t>(repetition))};
            },
            "g.tsr");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kGather = R"(    op gather(t: 4, n: 2)
    index I i32[t]
    in X f32[I[t], n] of [4, 2]
    out Y f32[t, n] = X
)";

TEST(CheckIndices, AReadStaysInItsOperand) {
    EXPECT_EQ(problem(graph_of(kGather), {{3, 0, 0, 2}}), "");
    EXPECT_EQ(
        problem(graph_of(kGather), {{3, 0, 4, 2}}),
        "g.tsr: `pick`: has 4 as the index along axis 0 of `X`, expected 0 to 3, at t = 2, n = 0 (the index "
        "is `I[t]`)");
    EXPECT_NE(problem(graph_of(kGather), {{3, 0, -1, 2}}), "");
    EXPECT_NE(problem(graph_of(kGather), {{3, 0, 2147483647, 2}}), "");
}

TEST(CheckIndices, AWriteStaysInItsResult) {
    const std::string scatter = graph_of(R"(    op scatter(t*: 4, n: 2)
    index I i32[t]
    in X f32[t, n]
    out Y f32[I[t] + 1, n] of [4, 2] = sum(X)
)");
    EXPECT_EQ(problem(scatter, {{2, 0, 0, 2}}), "");
    EXPECT_NE(problem(scatter, {{2, 0, 0, 3}}), "");
    const std::string direct = graph_of(R"(    op direct(t: 4, n: 2)
    index I i32[t]
    in X f32[t, n]
    out Y f32[t + 1, n] of [4, 2] = X + I[t]
)");
    EXPECT_EQ(
        problem(direct, {{0, 0, 0, 0}}),
        "g.tsr: `pick`: has 4 as the index along axis 0 of `Y`, expected 0 to 3, at t = 3, n = 0 (the index "
        "is `t + 1`)");
}

TEST(CheckIndices, AnIndexIsReadWithinItsShape) {
    const std::string beyond = graph_of(R"(    op beyond(t: 4, n: 2)
    index I i32[2 * t] of [4]
    in X f32[I[2 * t], n] of [4, 2]
    out Y f32[t, n] = X
)");
    EXPECT_NE(problem(beyond, {{0, 0, 0, 0}}), "");
}

TEST(CheckIndices, WhatThePredicateLeavesOutChoosesNothing) {
    const std::string masked = graph_of(R"(    op masked(t: 4, n: 2)
    index I i32[t]
    in X f32[I[t], n] of [4, 2]
    out Y f32[t, n] = X
    where t < 2
)");
    EXPECT_EQ(problem(masked, {{0, 3, 99, -5}}), "");
    EXPECT_NE(problem(masked, {{0, 4, 99, -5}}), "");
}

TEST(CheckIndices, EveryRepetitionOfAConstantIsChecked) {
    const std::string constant = graph_of(kGather, "constant index: i32[4] from \"a\", \"b\"");
    EXPECT_EQ(problem(constant, {{0, 0, 0, 0}, {3, 3, 3, 3}}), "");
    EXPECT_NE(problem(constant, {{0, 0, 0, 0}, {3, 3, 3, 4}}), "");
}

TEST(CheckIndices, AnElementIsWrittenOnce) {
    const std::string store = graph_of(R"(    op store(t: 4, n: 2)
    index I i32[t]
    in X f32[t, n]
    out Y f32[I[t], n] of [4, 2] = X
)");
    EXPECT_EQ(problem(store, {{3, 0, 1, 2}}), "");
    EXPECT_EQ(problem(store, {{3, 0, 1, 3}}),
              "g.tsr: `pick`: writes an element of `Y` twice, again at t = 3, n = 0 (the indices that choose "
              "it must differ)");
    EXPECT_EQ(problem(store + "    where t < 3\n", {{3, 0, 1, 3}}), "");
}

TEST(CheckIndices, OnlyReductionsFoldWhatMeets) {
    const auto fold = [](const std::string& iterators) {
        return graph_of("    op fold(" + iterators + R"()
    index I i32[t]
    in X f32[t, n]
    out Y f32[I[t], n] of [4, 2] = sum(X)
)");
    };
    EXPECT_EQ(problem(fold("t: 4, n: 2"), {{3, 0, 1, 2}}), "");
    EXPECT_EQ(problem(fold("t*: 4, n: 2"), {{3, 0, 1, 3}}), "");
    EXPECT_EQ(problem(fold("t: 4, n: 2"), {{3, 0, 1, 3}}),
              "g.tsr: `pick`: writes an element of `Y` twice, again at t = 3, n = 0 (only iterators that are "
              "marked as reductions, `i*`, fold what meets)");
    // Every element that is folded is set, whatever the predicate leaves out.
    const std::string where = "    where I[t] >= 0\n";
    EXPECT_EQ(problem(fold("t*: 4, n: 2") + where, {{3, -1, 1, -1}}), "");
    EXPECT_EQ(problem(fold("t: 4, n: 2") + where, {{3, 2, 1, 0}}), "");
    EXPECT_THAT(problem(fold("t: 4, n: 2") + where, {{3, -1, 1, 2}}),
                ::testing::HasSubstr("has -1 as the index along axis 0 of `Y`, expected 0 to 3, at t = 1"));
    EXPECT_THAT(problem(fold("t: 4, n: 2") + "    where t < 3\n", {{3, 0, 1, 3}}),
                ::testing::HasSubstr("writes an element of `Y` twice"));
}

}  // namespace
}  // namespace tessera::programs
