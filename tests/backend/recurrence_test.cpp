// Recurrences whose states lie at the seats of their sequences: compiled code and lowered programs against
// the interpreter of the graph, by one worker and by several, whole and token by token.
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/compiled_plans.h"
#include "lowering/kernels/micro_kernels.h"
#include "search/planner/default_planner.h"
#include "search/planner/usual_machine.h"

namespace tessera::testing {
namespace {

/// A short convolution before the gated delta rule, whose heads share their keys by pairs.
constexpr const char* kRecurrences = R"(graph "recurrences"
symbol T in 1..24
symbol B in 1..3
symbol I in 1..24
symbol N in 1..5
point decode weight 4: T = 1, B = 1, I = 1, N = 1
point prefill weight 1: T = 24, B = 1, I = 24, N = 1
input x: f32[T, 36]
input g: f32[T, 6]
input first: i32[B]
input length: i32[B]
input start: i32[B]
input seat: i32[B]
constant w: bf16[36, 4] from "w"
state past: f32[N, 3, 36]
state s: f32[N, 6, 5, 6]
value past_new: f32[N, 3, 36]
value s_new: f32[N, 6, 5, 6]
value c: f32[T, 36]
value v: f32[T, 6, 6]
value k: f32[T, 3, 5]
value u: f32[T, 6, 6]
value y: f32[T, 6, 6]
value z: f32[T, 36]
block layer
  update past -> past_new
  update s -> s_new
  node convolution(first, length, start, seat, x, w) over past -> past_new, c
    op conv(b: B, j*: 3, d: 36, i>: I)
    dim T in 1..24, B in 1..3, I in 1..24, N in 1..5
    index first i32[b]
    index length i32[b]
    index start i32[b]
    index seat i32[b]
    in X f32[first[b] + i, d] of [T, 36]
    in W bf16[d, j] of [36, 4]
    carry P f32[seat[b], j, d] of [N, 3, 36]
    out C f32[first[b] + i, d] of [T, 36] = sum(select(start[b] + i == 0, 0.0, P) * W) + X * W[d, 3]
    carry P = select(j == 2, X, select(start[b] + i == 0, 0.0, P[seat[b], j + 1, d]))
    where i < length[b]
  node v(c) -> v
    op heads(t: T, h: 6, e: 6)
    dim T in 1..24
    in X f32[t, 6 * h + e] of [T, 36]
    out Y f32[t, h, e] = X
  node k(c) -> k
    op keys(t: T, h: 3, d: 5)
    dim T in 1..24
    in X f32[t, 12 * h + d] of [T, 36]
    out Y f32[t, h, d] = X * 0.5
  node rule(first, length, start, seat, k, v, g) over s -> s_new, u, y
    op delta_rule(b: B, h: 6, d*: 5, e: 6, i>: I)
    dim T in 1..24, B in 1..3, I in 1..24, N in 1..5
    index first i32[b]
    index length i32[b]
    index start i32[b]
    index seat i32[b]
    in K f32[first[b] + i, h div 2, d] of [T, 3, 5]
    in V f32[first[b] + i, h, e] of [T, 6, 6]
    in G f32[first[b] + i, h] of [T, 6]
    carry S f32[seat[b], h, d, e] of [N, 6, 5, 6]
    out U f32[first[b] + i, h, e] of [T, 6, 6] = (V - G * sum(select(start[b] + i == 0, 0.0, S) * K)) * 0.5
    carry S = select(start[b] + i == 0, 0.0, S) * G + K * U
    out Y f32[first[b] + i, h, e] of [T, 6, 6] = max(S * K) + sigmoid(V)
    where i < length[b]
  node z(y) -> z
    op merged(t: T, n: 36)
    dim T in 1..24
    in X f32[t, n div 6, n mod 6] of [T, 6, 6]
    out Y f32[t, n] = X * 2
output z
)";

std::vector<double> drawn(int64_t count, std::mt19937& random) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back((static_cast<double>(random() % 4096) - 2048) / 2048);
    return values;
}

TensorData row(std::vector<double> values) {
    return {.shape = {std::ssize(values)}, .values = std::move(values)};
}

/// A state space layer of heads that share keys by pairs, and a delta rule. Both are linear in their states.
constexpr const char* kLinear = R"(graph "linear"
symbol T in 1..40
symbol B in 1..3
symbol I in 1..40
symbol N in 1..5
point prefill weight 1: T = 40, B = 1, I = 40, N = 1
input x: f32[T, 36]
input g: f32[T, 6]
input first: i32[B]
input length: i32[B]
input start: i32[B]
input seat: i32[B]
constant skip: f32[36, 4] from "w"
state m: f32[N, 4, 7, 16]
state s: f32[N, 2, 5, 16]
value m_new: f32[N, 4, 7, 16]
value s_new: f32[N, 2, 5, 16]
value y: f32[T, 4, 16]
value u: f32[T, 2, 16]
value z: f32[T, 2, 16]
block layer
  update m -> m_new
  update s -> s_new
  node scan(first, length, start, seat, g, x, skip) over m -> m_new, y
    op state_space(b: B, h: 4, n*: 7, p: 16, i>: I)
    dim T in 1..40, B in 1..3, I in 1..40, N in 1..5
    index first i32[b]
    index length i32[b]
    index start i32[b]
    index seat i32[b]
    in G f32[first[b] + i, h] of [T, 6]
    in X f32[first[b] + i, 0] of [T, 36]
    in D f32[h, 1] of [36, 4]
    carry S f32[seat[b], h, n, p] of [N, 4, 7, 16]
    carry S = select(start[b] + i == 0, 0.0, S) * exp(-abs(G)) + G * X[first[b] + i, 7 * (h div 2) + n] * X[first[b] + i, 6 * (h div 2) + p + 14]
    out Y f32[first[b] + i, h, p] of [T, 4, 16] = sum(S * X[first[b] + i, n + 2]) + D * X[first[b] + i, p]
    where i < length[b]
    regrouped
  node rule(first, length, start, seat, x, g) over s -> s_new, u, z
    op delta_rule(b: B, h: 2, d*: 5, e: 16, i>: I)
    dim T in 1..40, B in 1..3, I in 1..40, N in 1..5
    index first i32[b]
    index length i32[b]
    index start i32[b]
    index seat i32[b]
    in X f32[first[b] + i, 0] of [T, 36]
    in G f32[first[b] + i, h] of [T, 6]
    carry S f32[seat[b], h, d, e] of [N, 2, 5, 16]
    out U f32[first[b] + i, h, e] of [T, 2, 16] = (X[first[b] + i, 16 * h + e] - G * sum(select(start[b] + i == 0, 0.0, S) * X[first[b] + i, 5 * h + d])) * 0.5
    carry S = select(start[b] + i == 0, 0.0, S) * G + X[first[b] + i, 5 * h + d] / 3.0 * U
    out Z f32[first[b] + i, h, e] of [T, 2, 16] = sum(S * X[first[b] + i, 5 * h + d + 20]) / 7.0
    where i < length[b]
    regrouped
output y
output z
)";

/// So many new tokens of sequences, which lie at these seats behind so many others.
struct Tokens {
    std::vector<double> length, start, seat;
};

GraphCall call_of(const Tokens& tokens, GraphStates states, std::mt19937& random) {
    GraphCall call;
    std::vector<double> first;
    double count = 0, longest = 0;
    for (const double length : tokens.length) {
        first.push_back(count);
        count += length;
        longest = std::max(longest, length);
    }
    const auto t = static_cast<int64_t>(count);
    call.symbols = {
        {"T", t}, {"B", std::ssize(first)}, {"I", static_cast<int64_t>(longest)}, {"N", int64_t{5}}};
    call.inputs = {{"x", {{t, 36}, drawn(t * 36, random)}},
                   {"g", {{t, 6}, drawn(t * 6, random)}},
                   {"first", row(first)},
                   {"length", row(tokens.length)},
                   {"start", row(tokens.start)},
                   {"seat", row(tokens.seat)}};
    call.constant = [](const Value& value, int64_t) {
        std::mt19937 own(3);
        TensorData data{evaluate(value.type.shape, {}), drawn(144, own)};
        for (double& each : data.values) each = round_to(value.type.element, each);
        return data;
    };
    call.states = std::move(states);
    return call;
}

class Recurrences : public ::testing::TestWithParam<int64_t> {
protected:
    static planner::PlannerOptions options_of(int64_t workers) {
        return on_usual_machine({.machine = "test",
                                 .lanes = GetParam(),
                                 .vector_registers = 32,
                                 .workers = workers,
                                 .barriers_of_a_layer = 1000},
                                0);
    }

    static CompiledPlans compiled(const Graph& graph, int64_t workers) {
        const planner::PlannerOptions options = options_of(workers);
        CompiledPlans all(GetParam());
        all.add(graph, planner::complete_plan(graph, planner::initial_plan(graph, options), options));
        all.compile();
        return all;
    }

    const Graph graph_ = parse_graph(kRecurrences, "recurrences");
};

TEST_P(Recurrences, AreThoseOfTheInterpreter) {
    verify(graph_, "recurrences");
    for (const int64_t workers : {1, 2, 3}) {
        const CompiledPlans plan = compiled(graph_, workers);
        std::mt19937 random(5);
        GraphStates states = zero_states(graph_, {{"N", 5}});
        // State that others have left there counts for nothing where a sequence begins.
        for (auto& [name, repetitions] : states)
            for (TensorData& data : repetitions) data.values.assign(data.values.size(), 1e3);
        for (const Tokens& tokens :
             {Tokens{{7, 1, 4}, {0, 0, 0}, {3, 0, 4}}, Tokens{{1, 1}, {7, 1}, {3, 0}}, Tokens{{24}, {4}, {4}},
              Tokens{{1}, {8}, {3}}, Tokens{{2, 5}, {0, 9}, {1, 3}}}) {
            const GraphCall call = call_of(tokens, states, random);
            const GraphResult expected = interpret_graph(graph_, call);
            const Difference worst = difference(plan.run(0, call), expected);
            ASSERT_LE(worst.relative, kTolerance) << workers << " workers: " << worst.where;
            states = expected.states;
        }
    }
}

TEST_P(Recurrences, OfATokenAtATimeAreThoseOfAllAtOnce) {
    const CompiledPlans plan = compiled(graph_, 1);
    std::mt19937 random(6);
    const GraphStates zeros = zero_states(graph_, {{"N", 5}});
    const GraphCall whole = call_of({{9}, {0}, {2}}, zeros, random);
    const std::vector<double> expected = plan.run(0, whole).outputs.at(0).values;
    GraphStates states = zeros;
    for (int64_t i = 0; i < 9; ++i) {
        GraphCall one = call_of({{1}, {static_cast<double>(i)}, {2}}, states, random);
        for (const auto& [name, width] : {std::pair{"x", 36}, std::pair{"g", 6}}) {
            const auto& all = whole.inputs.at(name).values;
            one.inputs[name].values.assign(all.begin() + i * width, all.begin() + (i + 1) * width);
        }
        const GraphResult result = plan.run(0, one);
        for (size_t n = 0; n < 36; ++n)
            ASSERT_NEAR(result.outputs.at(0).values[n], expected[static_cast<size_t>(i) * 36 + n], 1e-5)
                << i << ", " << n;
        states = result.states;
    }
}

std::string nests_of(const plan::Plan& plan) {
    std::string all;
    for (const plan::SpecialisationPlan& specialisation : plan.specialisations)
        for (const plan::KernelPlan& kernel : specialisation.kernels) all += plan::print(kernel.nest) + "; ";
    return all;
}

/// Every leaf of both operators that takes several tokens together.
TEST_P(Recurrences, OfSeveralTokensTogetherAreThoseOfTheInterpreter) {
    const Graph graph = parse_graph(kLinear, "linear");
    verify(graph, "linear");
    for (const int64_t workers : {1, 2}) {
        for (const auto& [steps, lanes] : {std::pair{2, 4}, std::pair{4, 8}, std::pair{8, 4}}) {
            const planner::PlannerOptions options = options_of(workers);
            plan::Plan plan = planner::complete_plan(graph, planner::initial_plan(graph, options), options);
            for (plan::KernelPlan& kernel : plan.specialisations.at(0).kernels)
                for (auto& item : kernel.nest.items) {
                    auto& leaf = std::get<plan::Leaf>(item);
                    const std::string x = leaf.node == "scan" ? "p" : "e";
                    item = plan::parse_nest(
                               fmt::format("{}[chunk lanes={} steps={} x={}]", leaf.node, lanes, steps, x),
                               "test", kernels::micro_kernels())
                               .items.front();
                }
            CompiledPlans compiled(GetParam());
            compiled.add(graph, plan);
            compiled.compile();
            std::mt19937 random(static_cast<uint32_t>(11 * steps));
            GraphStates states = zero_states(graph, {{"N", 5}});
            for (auto& [name, repetitions] : states)
                for (TensorData& data : repetitions)
                    data.values.assign(data.values.size(), std::numeric_limits<double>::infinity());
            for (const Tokens& tokens :
                 {Tokens{{7, 1, 9}, {0, 0, 0}, {3, 0, 4}}, Tokens{{5, 8}, {7, 1}, {3, 0}},
                  Tokens{{40}, {9}, {4}}, Tokens{{1}, {12}, {3}}, Tokens{{16, 24}, {0, 9}, {1, 0}},
                  Tokens{{3, 0, 4}, {0, 33, 0}, {2, 0, 4}}}) {
                const GraphCall call = call_of(tokens, states, random);
                const GraphResult expected = interpret_graph(graph, call);
                const Difference worst = difference(compiled.run(0, call), expected);
                ASSERT_LE(worst.relative, kTolerance) << workers << " " << steps << ": " << worst.where;
                states = expected.states;
            }
        }
    }
}

TEST_P(Recurrences, PricesTakeSeveralTokensTogetherWhereTheyMayBeRegrouped) {
    if (GetParam() == 1) return;
    const planner::PlannerOptions options = options_of(1);
    const auto planned = [&](const std::string& text) {
        const Graph graph = parse_graph(text, "linear");
        return nests_of(planner::complete_plan(graph, planner::initial_plan(graph, options), options));
    };
    std::string text = kLinear;
    EXPECT_THAT(planned(text), ::testing::HasSubstr("scan[chunk"));
    EXPECT_THAT(planned(text), ::testing::HasSubstr("rule[chunk"));
    for (size_t at = text.find("    regrouped\n"); at != std::string::npos; at = text.find("    regrouped\n"))
        text.erase(at, 14);
    EXPECT_THAT(planned(text), ::testing::Not(::testing::HasSubstr("chunk")));
}

INSTANTIATE_TEST_SUITE_P(OfLanes, Recurrences, ::testing::ValuesIn(host_lanes()),
                         [](const auto& lanes) { return std::to_string(lanes.param); });

}  // namespace
}  // namespace tessera::testing
