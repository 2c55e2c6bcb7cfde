// Graphs that state what cannot lie where it must: with copies they mean the same, and their plans compute
// it.
#include "search/planner/own_storage.h"

#include <map>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lowering/movement/interpreted_plan.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"

namespace tessera::testing {
namespace {

std::string values(const std::string& names) {
    std::string text;
    for (const char name : names) text += fmt::format("value {}: f32[4, 6]\n", name);
    return text;
}

/// A map of one operand, read at `at`.
std::string map(const std::string& from, const std::string& to, const std::string& body = "X * 2",
                const std::string& at = "i, j") {
    return fmt::format(
        "node make_{1}({0}) -> {1}\nop map(i: 4, j: 6)\nin X f32[{3}] of [4, 6]\nout Y f32[i, j] = {2}\n",
        from, to, body, at);
}

std::string difference_of(const std::string& a, const std::string& b, const std::string& to) {
    return fmt::format(
        "node make_{2}({0}, {1}) -> {2}\nop less(i: 4, j: 6)\nin A f32[i, j]\nin B f32[i, j]\n"
        "out Y f32[i, j] = A - B\n",
        a, b, to);
}

/// Writes rows 1 and 2.
std::string store(const std::string& from, const std::string& over, const std::string& to) {
    return fmt::format(
        "node make_{2}({0}) over {1} -> {2}\nop store(i: 2, j: 6)\nin X f32[i, j] of [4, 6]\n"
        "update Y f32[i + 1, j] of [4, 6] = X\n",
        from, over, to);
}

const std::string kInput = "graph \"g\"\ninput x: f32[4, 6]\n";
const std::string kState = kInput + "state s: f32[4, 6]\n";
const std::string kMain = "block main\n";
const std::string kUpdates = "block main\nupdate s -> n\n";

/// By name, so that failures say which.
const std::map<std::string, std::string>& texts() {
    static const std::map<std::string, std::string> all = {
        {"an output is the new state", kState + values("n") + kUpdates + store("x", "s", "n") + "output n\n"},
        {"a copy of the new state too",
         kState + values("ny") + kUpdates + store("x", "s", "n") + map("n", "y", "X") + "output n, y\n"},
        {"no update makes the new state",
         kState + values("ny") + kUpdates + difference_of("s", "x", "n") + map("n", "y") + "output y\n"},
        {"which reads other elements of the old one",
         kState + values("n") + kUpdates + map("s", "n", "X + 1", "3 - i, j") + "output n\n"},
        {"the old state is read behind its update",
         kState + values("ny") + kUpdates + store("x", "s", "n") + map("s", "y") + "output y\n"},
        {"and compared with the new one", kState + values("ny") + kUpdates + store("x", "s", "n") +
                                              difference_of("n", "s", "y") + "output y\n"},
        {"a view of the old state is read behind", kState + values("nvy") + kUpdates +
                                                       map("s", "v", "X", "3 - i, j") + store("x", "s", "n") +
                                                       map("v", "y") + "output y\n"},
        {"the old state is an output",
         kState + values("nv") + kUpdates + store("x", "s", "n") + map("s", "v", "X") + "output v\n"},
        {"an update reads what it replaces elsewhere",
         kState + values("n") +
             "block main\nupdate s -> n\nnode make_n(s) over s -> n\nop shift(i: 3, j: 6)\n"
             "in X f32[i, j] of [4, 6]\nupdate Y f32[i + 1, j] of [4, 6] = X + 1\noutput n\n"},
        {"two operators update one state", kState + values("nmy") + kUpdates + store("x", "s", "n") +
                                               store("x", "s", "m") + difference_of("m", "n", "y") +
                                               "output y\n"},
        {"updates follow each other", kState + values("mny") + kUpdates + store("x", "s", "m") +
                                          map("m", "y") + store("y", "m", "n") + "output y\n"},
        {"an input is updated", kInput + values("py") + kMain + store("x", "x", "p") +
                                    difference_of("p", "x", "y") + "output p, y\n"},
        {"what is updated is read later and is an output",
         kInput + values("pqy") + kMain + map("x", "p") + store("x", "p", "q") +
             difference_of("q", "p", "y") + "output y, p\n"},
        {"an input is carried",
         kInput + values("y") + "block layer repeat 3 carry x -> y\n" + map("x", "y") + "output y\n"},
        {"what is carried is not made in place",
         kInput + values("abz") + "block before\n" + map("x", "a", "X + 1") +
             "block layer repeat 3 carry a -> b\n" + map("a", "b", "X * 2", "3 - i, j") + "block behind\n" +
             map("b", "z") + "output z\n"},
        {"what is carried is a view", kInput + values("abz") + "block before\n" + map("x", "a", "X + 1") +
                                          "block layer repeat 3 carry a -> b\n" +
                                          map("a", "b", "X", "3 - i, j") + "block behind\n" + map("b", "z") +
                                          "output z\n"},
        {"what is carried in is a view, and an output",
         kInput + values("ab") + "block before\n" + map("x", "a", "X", "3 - i, j") +
             "block layer repeat 3 carry a -> b\n" + map("a", "b") + "output a, b\n"},
        {"two blocks carry one value", kInput + values("abcz") + "block before\n" + map("x", "a", "X + 1") +
                                           "block first repeat 3 carry a -> b\n" + map("a", "b") +
                                           "block second repeat 2 carry a -> c\n" + map("a", "c", "X + 1") +
                                           "block behind\n" + difference_of("b", "c", "z") + "output z\n"},
        {"a repeated block reads an old state late",
         kState + values("nabcz") + "block before\n" + map("x", "a", "X + 1") +
             "block layer repeat 2 carry a -> b\nupdate s -> n\n" + store("a", "s", "n") +
             difference_of("n", "s", "c") + map("c", "b", "X * 0.5", "3 - i, j") + "block behind\n" +
             map("b", "z") + "output z\n"},
    };
    return all;
}

TensorData contents(int first) {
    TensorData data{{4, 6}, {}};
    for (int i = 0; i < 24; ++i) data.values.push_back((first + 7 * i) % 23 - 11);
    return data;
}

GraphCall call_of(const Graph& graph) {
    GraphCall call{.symbols = {}, .inputs = {{"x", contents(3)}}, .constant = {}};
    for (const Block& block : graph.blocks)
        for (const StateUpdate& update : block.states)
            for (int r = 0; r < block.repeat; ++r)
                call.states[graph[update.before].name].push_back(contents(5 + r));
    return call;
}

TEST(OwnStorage, CopiesChangeNothing) {
    int left_alone = 0;  // chains of updates, and a view, which the planner computes
    for (const auto& [name, text] : texts()) {
        SCOPED_TRACE(name);
        const Graph graph = parse_graph(text, name);
        verify(graph, name);
        const std::optional<Graph> own = planner::with_own_storage(graph);
        if (!own) {
            ++left_alone;
            continue;
        }
        verify(*own, name + ", with copies");
        EXPECT_FALSE(planner::with_own_storage(*own)) << print(*own);
        const Difference worst =
            difference(interpret_graph(*own, call_of(*own)), interpret_graph(graph, call_of(graph)));
        EXPECT_EQ(worst.relative, 0) << worst.where << "\n" << print(*own);
    }
    EXPECT_EQ(left_alone, 2);
}

TEST(OwnStorage, PlansComputeIt) {
    for (const auto& [name, text] : texts()) {
        const Graph graph = parse_graph(text, name);
        const Graph own = planner::with_own_storage(graph).value_or(graph);
        for (const int64_t workers : {1, 2}) {
            SCOPED_TRACE(fmt::format("{}, {} workers", name, workers));
            planner::PlannerOptions options{.machine = "test", .lanes = 8, .vector_registers = 32};
            options.workers = workers;
            const plan::Plan plan = planner::default_plan(own, testing::on_usual_machine(options));
            planner::verify_plan(own, plan, name);
            const InterpretedPlan::Run run = InterpretedPlan(own, plan).run(call_of(own));
            EXPECT_EQ(run.faults_text(), "");
            const Difference worst = difference(run.result, interpret_graph(graph, call_of(graph)));
            EXPECT_EQ(worst.relative, 0) << worst.where << "\n" << print(own) << plan::print(plan);
        }
    }
}

TEST(OwnStorage, WhatCanLieInPlaceIsLeftAlone) {
    const Graph residual =
        parse_graph(kInput + values("abcz") + "block before\n" + map("x", "a", "X + 1") +
                        "block layer repeat 3 carry a -> b\n" + map("a", "c", "X", "3 - i, j") +
                        difference_of("a", "c", "b") + "block behind\n" + map("b", "z") + "output z\n",
                    "residual");
    EXPECT_FALSE(planner::with_own_storage(residual));
    // A read that does not need the update is moved in front of it.
    const Graph moved = *planner::with_own_storage(
        parse_graph(texts().at("the old state is read behind its update"), "moved"));
    ASSERT_EQ(moved.blocks.front().nodes.size(), 2U);
    EXPECT_EQ(moved.blocks.front().nodes.front().name, "make_y");
}

}  // namespace
}  // namespace tessera::testing
