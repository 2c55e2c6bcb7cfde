#include "chip/partition/chip_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/chip_part.h"
#include "chip/partition/small_chips.h"
#include "chip/partition/tables_json.h"
#include "chip/plan_schedule.h"
#include "chip/read_schedule_problem.h"
#include "chip/timeline.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLayers = R"(graph "layers"
input x: f16[4, 16]
constant w: f16[16, 16] from "layers.*.w" for 0..3
constant v: f16[16, 16] from "layers.*.v" for 0..3
value y: f16[4, 16]
value u: f16[4, 16]
value z: f16[4, 16]
block layer repeat 3 carry x -> z
  node y(x, w) -> y
    op matmul(t: 4, n: 16, k*: 16)
    in X f16[t, k]
    in W f16[n, k]
    out Y f16[t, n] = sum(f32(X) * f32(W))
  node u(x, v) -> u
    op matmul(t: 4, n: 16, k*: 16)
    in X f16[t, k]
    in W f16[n, k]
    out Y f16[t, n] = sum(f32(X) * f32(W))
  node z(y, u) -> z
    op mul(t: 4, k: 16)
    in A f16[t, k], B f16[t, k]
    out C f16[t, k] = A * B
output z
)";

Workload layers() {
    return graph_workload(parse_graph(kLayers, "layers.ir"), {}, "layers.ir");
}

TEST(ChipTables, PlanEqualOperatorsOnce) {
    const ChipTables tables = chip_tables(layers(), small_chip(), "small.toml");
    ASSERT_EQ(tables.operators.size(), 3u);
    EXPECT_EQ(tables.problem.operators[0].rows, tables.problem.operators[1].rows);
    EXPECT_EQ(tables.problem.operators[1].name, "u");
    EXPECT_GE(tables.operators[0].rows.size(), 2u);
    EXPECT_EQ(tables.operators[0].rows.size(), tables.problem.operators[0].rows.size());
    EXPECT_EQ(tables.hbm_bytes, 3 * 2 * 512);
    // u and y run beside one waiting value of 128 bytes, on 6 cores.
    EXPECT_EQ(tables.carried_bytes, 22);
    EXPECT_EQ(tables.problem.sram_bytes, 100'000 - 22);
}

TEST(ChipTables, NoRowIsWorseThanAnother) {
    const ChipTables tables = chip_tables(layers(), small_chip(), "small.toml");
    for (const chip::Operator& op : tables.problem.operators)
        for (size_t a = 0; a < op.rows.size(); ++a)
            for (size_t b = 0; b < op.rows.size(); ++b)
                EXPECT_FALSE(a != b && op.rows[a].preload_bytes <= op.rows[b].preload_bytes &&
                             op.rows[a].exec_bytes <= op.rows[b].exec_bytes &&
                             op.rows[a].execute() <= op.rows[b].execute() &&
                             op.rows[a].traffic() <= op.rows[b].traffic());
}

TEST(ChipTables, AreTheProblemThatScheduleReads) {
    const chip::ChipDescription chip = small_chip();
    const ChipTables tables = chip_tables(layers(), chip, "small.toml");
    const chip::ScheduleProblem read =
        chip::read_schedule_problem(tables_json(tables, chip, "small.toml"), "tables.json");
    EXPECT_EQ(read.sram_bytes, tables.problem.sram_bytes);
    EXPECT_EQ(read.sequence, tables.problem.sequence);
    EXPECT_EQ(read.repeats, tables.problem.repeats);
    ASSERT_EQ(read.operators.size(), tables.problem.operators.size());
    const chip::PlanResult plan = chip::plan_schedule(tables.problem, {.work = 200'000});
    ASSERT_TRUE(plan.has_schedule());
    EXPECT_EQ(chip::schedule_fault(read, plan.schedule), "");
    EXPECT_NEAR(chip::run_schedule(read, plan.schedule).total, plan.total, 1e-9 * plan.total);
    const chip::ChipDescription grid = small_chip({.topology = "mesh", .shape = "[3, 2]"});
    EXPECT_THROW((void)tables_json(chip_tables(layers(), grid, "small.toml"), grid, "small.toml"), Error);
}

TEST(ChipTables, NameTheOperatorThatDoesNotFit) {
    try {
        (void)chip_tables(layers(), small_chip({.sram_bytes = 80}), "small.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("small.toml: `y`: has no plan that fits: the smallest takes"));
    }
    try {
        (void)chip_tables(layers(), small_chip({.sram_bytes = 20}), "small.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("`capacity_bytes`: leaves no room: values that wait "
                                            "take 22 bytes of a core, which "
                                            "has 20"));
    }
}

/// A product that reads value `x` and makes value `y`, with `outputs` columns.
WorkOperator wide_product(int x, int y, int64_t outputs) {
    const Definition definition =
        parse_definition(fmt::format("op product(t: 4, n: {}, k*: 16)\nin X f16[t, k]\nin W f16[n, k]\n"
                                     "out Y f16[t, n] = sum(f32(X) * f32(W))\n",
                                     outputs),
                         "test.op");
    return {"product",
            facts::bind_unfilled(definition, {}, "test.op"),
            {Place::kOnChip, Place::kHbm, Place::kOnChip},
            {x, -1, y}};
}

TEST(ChipPart, CutsWhereReadingAndReceivingTakeLeast) {
    const chip::ChipDescription pod = small_chip({.chips = 2});
    HeldBytes held;
    // Along n each chip reads half of W and needs all of X, half of which is elsewhere. Along k it reads as
    // much and adds half of the other's sums, which are more. Along t it would read all of W.
    const ChipPart first = chip_part(wide_product(0, 1, 256), pod, held);
    ASSERT_TRUE(first.cut);
    EXPECT_EQ(first.op.bound.definition.iterators[*first.cut].name, "n");
    EXPECT_EQ(first.hbm_bytes, 4096);
    EXPECT_EQ(first.exchange_bytes, 64);
    EXPECT_EQ(first.exchange, 64 / 2.0 + 100);
    EXPECT_EQ(first.op.bound.extents.iterators[1], 128);
    // X is there now.
    EXPECT_EQ(chip_part(wide_product(0, 2, 256), pod, held).exchange_bytes, 0);
    // A small W is read twice rather than X exchanged.
    const ChipPart small = chip_part(wide_product(3, 4, 16), pod, held);
    EXPECT_EQ(small.op.bound.definition.iterators[small.cut.value()].name, "t");
    EXPECT_EQ(small.hbm_bytes, 512);
    EXPECT_EQ(small.exchange, 0);
}

TEST(ChipPart, OneChipExecutesEverything) {
    const Workload workload = layers();
    HeldBytes held;
    const ChipPart part = chip_part(workload.operators[0], small_chip(), held);
    EXPECT_FALSE(part.cut);
    EXPECT_EQ(part.hbm_bytes, 512);
    EXPECT_EQ(part.exchange, 0);
    EXPECT_TRUE(held.empty());
}

TEST(PlanText, SaysHowAnOperatorIsCut) {
    PlannedOperator op;
    op.iterators = {"t", "n", "k"};
    op.extents = {4, 16, 16};
    op.tensors = {"X", "W", "Y"};
    EXPECT_EQ(plan_text(op, {.sizes = {4, 16, 16}}), "whole");
    EXPECT_EQ(plan_text(op, {.sizes = {4, 3, 8}}), "n/6 k/2");
    EXPECT_EQ(plan_text(op, {.sizes = {4, 3, 8}, .steps = 2, .along = 2, .rotating = 0b11}),
              "n/6 k/2, X and W in 2 steps along k");
}

}  // namespace
}  // namespace tessera::partition
