// Kernels with loads: what the plan says, and what is refused. tests/backend/loads_test.cpp runs such plans.
#include "search/planner/loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/copies.h"
#include "search/planner/default_planner.h"
#include "search/planner/stated.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using ::testing::HasSubstr;

/// A product whose B has no lanes along n, and a map behind it.
Graph product() {
    Graph graph = parse_graph(R"(graph "product"
input A: f32[64, 32]
input B: f32[128, 32]
value C: f32[64, 128]
value D: f32[64, 128]

block main
  node C(A, B) -> C
    op matmul(m: 64, n: 128, k*: 32)
    in A f32[m, k]
    in B f32[n, k]
    out C f32[m, n] = sum(A * B)
  node D(C) -> D
    op twice(m: 64, n: 128)
    in C f32[m, n]
    out D f32[m, n] = C * 2

output D
)",
                              "product");
    verify(graph, "product");
    return graph;
}

plan::Plan plan_with(const std::string& nest, plan::Plan initial = {}) {
    const Graph graph = product();
    PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 16});
    const std::string toml = "[[kernel]]\nnest = \"" + nest + "\"\n";
    const auto stated = plan::parse_stated_kernels(toml, "kernels.toml", kernels::micro_kernels());
    if (initial.specialisations.empty()) initial = initial_plan(graph, options);
    check_stated(graph, initial, without_loads(stated));
    initial = with_loads(graph, std::move(initial), stated);
    const Graph whole = plan::with_copies(graph, initial, "plan");
    options.stated = with_copies(stated);
    plan::Plan plan = complete_plan(whole, initial, options);
    verify_plan(whole, plan, "plan");
    return plan;
}

std::string why_refused(const std::string& nest) {
    try {
        (void)plan_with(nest);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Loads, AreTilesInTheirLayoutThatHoldWhatOneTripReads) {
    const plan::Plan plan = plan_with("n:32 { load B as lanes <0:16>; C; D }");
    ASSERT_TRUE(plan.copies.contains("B_load1"));
    EXPECT_EQ(plan.copies.at("B_load1").of, "B");
    EXPECT_EQ(plan.copies.at("B_load1").readers, (std::vector<plan::CopyReader>{{"C", "B"}}));
    const plan::TensorPlan& tile = plan.specialisations.front().tensors.at("B_load1");
    EXPECT_EQ(tile.place, plan::Place::kTile);
    EXPECT_EQ(tile.bytes, 32 * 32 * 4);
    EXPECT_EQ(print(tile.layout), "lanes <0:16>");
    ASSERT_EQ(plan.specialisations.front().kernels.size(), 1U);
    EXPECT_THAT(plan::print(plan.specialisations.front().kernels.front().nest),
                HasSubstr("n:32 { copy_B_load1[loops"));
}

TEST(Loads, TakeThePlaceOfOtherCopies) {
    const Graph graph = product();
    plan::Plan initial = initial_plan(graph, {.machine = "test", .lanes = 16});
    initial.copies["B_packed"] = {.of = "B", .readers = {{"C", "B"}}};
    initial.specialisations.front().tensors["B_packed"] = {.layout = {.order = {}, .lanes = {{0, 16}}}};
    const plan::Plan plan = plan_with("n:32 { load B as lanes <0:16>; C; D }", initial);
    EXPECT_EQ(plan.copies.size(), 1U);
    EXPECT_FALSE(plan.specialisations.front().tensors.contains("B_packed"));
}

TEST(Loads, ThatNothingReadsAreRefused) {
    EXPECT_THAT(why_refused("n:32 { load Z; C; D }"), HasSubstr("is loaded, but is no value of this model"));
    EXPECT_THAT(why_refused("n:32 { C; load B; D }"),
                HasSubstr("is loaded, but nothing behind it in its braces reads it"));
    EXPECT_THAT(why_refused("n:32 { C; D; load B }"), HasSubstr("expected an operator behind the load"));
    EXPECT_THAT(why_refused("n:32 { load B as lanes; C; D }"), HasSubstr("load B: ends, expected `<`"));
    EXPECT_EQ(why_refused("n:32 { load B; C; D }"), "accepted");
}

}  // namespace
}  // namespace tessera::planner
