#include "chip/partition/execute_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/executed_programs.h"
#include "chip/partition/small_chips.h"
#include "chip/read_chip_toml.h"
#include "lowering/movement/random_graph.h"
#include "support/error.h"

// Whole steps, planned, simulated and executed, against the interpreter: blocks that repeat with their own
// constants and states, carried values, updates, attention.
namespace tessera::partition {
namespace {

using ::testing::HasSubstr;

std::string problem_of(const std::string& graph, const GraphCall& call, const chip::ChipDescription& chip) {
    try {
        (void)plan_step(parse_graph(graph, "g.ir"), call, chip, "g.ir", {.work = 0});
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST(ExecuteStep, GivesTheNumbersOfTheInterpreterForRandomGraphs) {
    const std::vector<chip::ChipDescription> chips = {
        small_chip({.cores = 6, .sram_bytes = 400'000}),
        small_chip({.topology = "mesh", .shape = "[2, 5]", .cores = 10, .sram_bytes = 200'000}),
        chip::read_chip_description(std::string(TESSERA_SOURCE_DIR) + "/machines/chips/small-16.toml")};
    for (uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        const testing::RandomGraph drawn = testing::random_graph(seed, 4);
        const GraphCall call = drawn.call(1 + static_cast<int64_t>(seed * 7 % 23));
        const chip::ChipDescription& chip = chips[seed % chips.size()];
        const PlannedStep step = plan_step(drawn.graph, call, chip, "drawn", {.work = 1000, .seed = seed});
        const ExecutedStep executed = execute_step(step, chip, call);
        EXPECT_EQ(difference(step.graph, call, executed.executed.result), "");
    }
}

TEST(ExecuteStep, GivesTheNumbersOfTheInterpreterForRandomRows) {
    const chip::ChipDescription chip = small_chip({.cores = 8, .sram_bytes = 4'000'000});
    for (uint64_t seed = 200; seed < 240; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        const testing::RandomGraph drawn = testing::random_graph(seed, 4);
        const GraphCall call = drawn.call(1 + static_cast<int64_t>(seed * 5 % 23));
        const DrawnPlan plan = draw_plan(drawn.graph, call, chip, seed);
        const ExecutableProgram program =
            executable_program(drawn.graph, call.symbols, plan.tables, plan.schedule, chip);
        const ExecutedProgram result = run_program(drawn.graph, call, program, plan.tables, chip);
        EXPECT_EQ(difference(drawn.graph, call, result.result), "");
    }
}

TEST(ExecuteStep, LeavesRoomForTheValuesOfTheStep) {
    // 24 kB of values live while the sums are made, which plans alone would leave no room for.
    const std::string graph = R"(graph "wide"
input x: f32[24, 64]
constant w: f32[64, 64] from "w"
value a: f32[24, 64]
value b: f32[24, 64]
value c: f32[24, 64]

block all
  node a(x, w) -> a
    op product(m: 24, n: 64, k*: 64)
    in X f32[m, k]
    in W f32[n, k]
    out Y f32[m, n] = sum(X * W)
  node b(a, w) -> b
    op product(m: 24, n: 64, k*: 64)
    in X f32[m, k]
    in W f32[n, k]
    out Y f32[m, n] = sum(X * W)
  node c(a, b, x) -> c
    op add(m: 24, n: 64)
    in A f32[m, n]
    in B f32[m, n]
    in X f32[m, n]
    out Y f32[m, n] = A + B * X

output c
)";
    const chip::ChipDescription chip = small_chip({.cores = 4, .sram_bytes = 26'000});
    GraphCall call;
    TensorData x{{24, 64}, {}}, w{{64, 64}, {}};
    for (int i = 0; i < 24 * 64; ++i) x.values.push_back(i % 7 - 3);
    for (int i = 0; i < 64 * 64; ++i) w.values.push_back((i % 5 - 2) / 8.0);
    call.inputs = {{"x", x}};
    call.constant = [w](const Value&, int64_t) { return w; };
    const PlannedStep step = plan_step(parse_graph(graph, "g.ir"), call, chip, "g.ir", {.work = 1000});
    EXPECT_GT(step.tables.carried_bytes, 0);
    const ExecutedStep executed = execute_step(step, chip, call);
    EXPECT_EQ(difference(step.graph, call, executed.executed.result), "");
    for (const int64_t peak : executed.executed.sram_peak) EXPECT_LE(peak, 26'000);
}

TEST(ExecuteStep, RefusesWhatItCannotExecute) {
    const std::string large = R"(graph "large"
symbol T in 1..100000
constant w: f32[4096, 4096] from "w"
input x: f32[T, 4096]
value y: f32[T, 4096]

block all
  node y(x, w) -> y
    op product(m: T, n: 4096, k*: 4096)
    dim T in 1..100000
    in X f32[m, k]
    in W f32[n, k]
    out Y f32[m, n] = sum(X * W)

output y
)";
    const chip::ChipDescription chip = small_chip({.cores = 4, .sram_bytes = 1 << 30});
    EXPECT_THAT(problem_of(large, {.symbols = {{"T", 100}}}, chip),
                HasSubstr("has 1.678e+09 iterations in a step, and at most 1000000000 are executed"));
    EXPECT_THAT(problem_of(large, {.symbols = {{"T", 1}}}, small_chip({.sram_bytes = 1 << 28, .chips = 2})),
                HasSubstr("is a pod of 2 chips"));
    const std::string replaced = R"(graph "replaced"
input x: f32[4]
state s: f32[4]
value s_new: f32[4]
value y: f32[4]

block all
  update s -> s_new
  node put(x) over s -> s_new
    op put(i: 4)
    in X f32[i]
    update Y f32[i] = X
  node y(s) -> y
    op copy(i: 4)
    in X f32[i]
    out Y f32[i] = X

output y
)";
    EXPECT_THAT(problem_of(replaced, {}, chip), HasSubstr("reads s after its contents were replaced"));
}

}  // namespace
}  // namespace tessera::partition
