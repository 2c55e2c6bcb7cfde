// Reductions that the workers divide: illegal combinations of the two halves, each refused with its reason.
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "lowering/plan/parts.h"
#include "search/planner/plan_refusal.h"

namespace tessera::testing {
namespace {

constexpr const char* kGraph = R"(graph "folds"
symbol T in 1..8
input x: f32[T, 16]
input slot: i32[T]
state rows: f32[8, 16]
value scaled: f32[T, 16]
value sum: f32[T, 4]
value total: f32[T]
value rows_new: f32[8, 16]
value y: f32[T, 4]

block main
  update rows -> rows_new
  node scaled(x) -> scaled
    op scale(t: T, n: 16)
    dim T in 1..8
    in X f32[t, n]
    out Y f32[t, n] = X * 2
  node sum(x, scaled) -> sum
    op fold_columns(t: T, n: 4, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    in S f32[t, n] of [T, 16]
    out Y f32[t, n] = sum(X) + S
  node total(x) -> total
    op fold_rows(t: T, k*: 16)
    dim T in 1..8
    in X f32[t, k]
    out Y f32[t] = sum(X)
  node update(slot, x) over rows -> rows_new
    op add_rows(t*: T, n: 16)
    dim T in 1..8
    index slot i32[t]
    in X f32[t, n]
    update C f32[slot[t], n] of [8, 16] = sum(X)
  node y(sum, total) -> y
    op add(t: T, n: 4)
    dim T in 1..8
    in X f32[t, n]
    in R f32[t]
    out Y f32[t, n] = X + R

output y
)";

const Graph& graph() {
    static const Graph parsed = [] {
        Graph g = parse_graph(kGraph, "folds.ir");
        verify(g, "folds.ir");
        return g;
    }();
    return parsed;
}

/// sum and total are folded by three workers, everything else is worker 0's.
plan::Plan legal_plan() {
    plan::SpecialisationPlan s{.name = "all", .bounds = {{"T", {1, 8}}}, .tensors = {}, .kernels = {}};
    const auto kernel = [&](const std::string& nest, bool barrier, bool alone) {
        s.kernels.push_back(
            {"main", plan::parse_nest(nest, "test", kernels::micro_kernels()), barrier, alone});
    };
    kernel("scaled[loops]", false, true);
    kernel("k:4@worker { sum[loops] }", true, false);
    kernel("t:1 { k:4@worker { total[loops] } }", false, false);
    kernel("update[loops]", false, true);
    kernel("t:2@worker { sum[combine]; total[combine]; y[loops] }", true, false);
    for (const char* value : {"scaled", "sum", "total"}) s.tensors[value] = {};
    for (const char* value : {"sum", "total"}) {
        s.tensors[value].place = plan::Place::kTile;
        s.tensors[plan::parts_of(value)].each_worker = true;
    }
    s.tensors["rows_new"] = {plan::Place::kInPlace, "rows", {}, 0, {}};
    return {.graph = "folds", .machine = "test", .workers = 3, .stored = {}, .specialisations = {s}};
}

std::vector<plan::KernelPlan>& kernels(plan::Plan& plan) {
    return plan.specialisations[0].kernels;
}
plan::TensorPlan& tensor(plan::Plan& plan, const std::string& name) {
    return plan.specialisations[0].tensors[name];
}
void set_nest(plan::Plan& plan, size_t kernel, const std::string& text) {
    kernels(plan)[kernel].nest = plan::parse_nest(text, "test", kernels::micro_kernels());
}

std::vector<IllegalEdit> cases() {
    return {
        {"NobodyCombines",
         [](plan::Plan& p) {
             tensor(p, "sum").place = plan::Place::kArena;
             set_nest(p, 4, "t:2@worker { total[combine]; y[loops] }");
         },
         kHere +
             "`sum`: is divided between the workers along a reduction, but no later kernel combines (begin "
             "a later kernel with sum[combine])"},
        {"ReadInBetween",
         [](plan::Plan& p) {
             kernels(p).push_back(
                 {"main", plan::parse_nest("sum[combine]", "test", kernels::micro_kernels()), true, true});
             set_nest(p, 4, "total[combine]; y[loops]");
         },
         kHere +
             "`y`: reads sum, of which there are only parts here (begin its kernel, or an earlier one, with "
             "sum[combine])"},
        {"NobodyLeavesParts", [](plan::Plan& p) { set_nest(p, 1, "t:4@worker { sum[loops] }"); },
         kHere + "`sum`: combines parts, but no earlier kernel leaves any (divide its reduction between the "
                 "workers in an earlier kernel, by @worker)"},
        {"CombinedTwice",
         [](plan::Plan& p) {
             set_nest(p, 4, "t:2@worker { sum[combine]; sum[combine]; total[combine]; y[loops] }");
         },
         kHere + "`sum`: is computed twice"},
        {"NoPlaceOfParts", [](plan::Plan& p) { p.specialisations[0].tensors.erase("parts of sum"); },
         kHere + "`parts of sum`: has no place of each worker (write `\"parts of VALUE\" = \"arena of each "
                 "worker\"`)"},
        {"PartsThatAllShare", [](plan::Plan& p) { tensor(p, "parts of sum").each_worker = false; },
         kHere + "`parts of sum`: has no place of each worker (write `\"parts of VALUE\" = \"arena of each "
                 "worker\"`)"},
        {"PartsOfSomethingElse", [](plan::Plan& p) { tensor(p, "parts of scaled").each_worker = true; },
         kHere + "`parts of scaled`: has a place, but no kernel leaves parts of it"},
        {"PartsOfNothing", [](plan::Plan& p) { tensor(p, "parts of z").each_worker = true; },
         kHere + "`parts of z`: is no intermediate value of the graph"},
        {"NoBarrierBeforeWhoCombines", [](plan::Plan& p) { kernels(p)[4].barrier = false; },
         kHere +
             "`parts of sum`: is written by sum for one worker and read by sum for another, with no barrier "
             "between them (say `barrier = true` for a kernel between them)"},
        {"CombinedByAllIntoOnePlace",
         [](plan::Plan& p) {
             tensor(p, "sum").place = plan::Place::kArena;
             set_nest(p, 4, "sum[combine]; total[combine]; y[loops]");
         },
         kHere +
             "`sum`: would be written by several workers, in sum (divide the kernel by an iterator of the "
             "result, let worker 0 compute it alone, or place the result in an `arena of each worker`)"},
        {"ReadInTheSameKernel",
         [](plan::Plan& p) {
             kernels(p).erase(kernels(p).begin() + 1);
             set_nest(p, 3, "t:1 { k:4@worker { sum[loops] }; total[combine]; y[loops] }");
         },
         "sum: `k`: is a reduction that the workers divide, so y would read parts of its result (end the "
         "kernel "
         "with sum, and begin a later one with sum[combine])"},
        {"PartsOfAnUpdate",
         [](plan::Plan& p) {
             kernels(p)[3].alone = false;
             set_nest(p, 3, "t:4@worker { update[loops] }");
             tensor(p, "parts of rows_new").each_worker = true;
         },
         kHere + "`rows_new`: takes over rows, but is combined from parts (give it storage of its own)"},
        {"CombineOfAnUpdate", [](plan::Plan& p) { set_nest(p, 3, "update[combine]"); },
         kHere +
             "`update`: micro-kernel combine does not implement it: its result starts from what it holds"},
        {"CombineOfAMap", [](plan::Plan& p) { set_nest(p, 0, "scaled[combine]"); },
         kHere + "`scaled`: micro-kernel combine does not implement it: it folds nothing"},
        {"FoldedAlone", [](plan::Plan& p) { kernels(p)[1].alone = true; },
         "sum: `k`: is divided between the workers, but worker 0 computes it alone (leave out @worker, or "
         "`alone "
         "= true`)"},
        {"DividedTwice", [](plan::Plan& p) { set_nest(p, 1, "t:2@worker k:4@worker { sum[loops] }"); },
         "sum: `k`: is divided between the workers inside of what they divide (leave one @worker)"},
        {"DividedInsideOfALoopOverIt",
         [](plan::Plan& p) { set_nest(p, 1, "k:8 { k:4@worker { sum[loops] } }"); },
         "sum: `k`: is divided between the workers inside of a loop over it (leave one loop over it)"},
        {"ResultDividedInsideOfOtherLoops",
         [](plan::Plan& p) { set_nest(p, 4, "n:1 t:2@worker { sum[combine]; total[combine]; y[loops] }"); },
         "y: `t`: is divided between the workers inside of other loops (put the loop with @worker in front "
         "of "
         "all others)"},
        {"LanesAlongTheReduction",
         [](plan::Plan& p) {
             set_nest(p, 4, "t:2@worker { sum[combine lanes=4 x=k]; total[combine]; y[loops] }");
         },
         "sum: `x`: is a reduction, of which parts are left"},
        {"ALoopOverWhatIsFolded",
         [](plan::Plan& p) {
             tensor(p, "sum").place = plan::Place::kArena;
             kernels(p).insert(
                 kernels(p).begin() + 4,
                 {"main", plan::parse_nest("k:4 { sum[combine] }", "test", kernels::micro_kernels()), true,
                  true});
             set_nest(p, 5, "t:2@worker { total[combine]; y[loops] }");
         },
         "sum: `k`: is a reduction, and the micro-kernel cannot fold tiles of it"},
        {"PostExpressionOfTiles",
         [](plan::Plan& p) {
             kernels(p).erase(kernels(p).begin());
             set_nest(p, 0, "k:4@worker { scaled[loops]; sum[loops] }");
             tensor(p, "scaled").place = plan::Place::kTile;
         },
         kHere + "`scaled`: exists by tiles only, but whoever combines sum reads it too (place it in the "
                 "arena)"}};
}

class IllegalParts : public ::testing::TestWithParam<IllegalEdit> {};

TEST_P(IllegalParts, AreRefusedWithTheReason) {
    plan::Plan plan = legal_plan();
    GetParam().edit(plan);
    EXPECT_EQ(refusal(graph(), plan), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(Cases, IllegalParts, ::testing::ValuesIn(cases()),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(LegalParts, OfTwoFoldsAreCombinedInOneKernelByAnyNumberOfWorkers) {
    for (const int64_t workers : {1, 2, 3, 16}) {
        plan::Plan plan = legal_plan();
        plan.workers = workers;
        EXPECT_EQ(refusal(graph(), plan), "") << workers;
        EXPECT_TRUE(plan::parse_plan(plan::print(plan), "printed", kernels::micro_kernels()) == plan);
    }
}

TEST(LegalParts, MayBeCombinedByEveryWorkerOrByOne) {
    plan::Plan plan = legal_plan();
    kernels(plan).insert(
        kernels(plan).begin() + 4,
        {"main", plan::parse_nest("sum[combine]", "test", kernels::micro_kernels()), true, false});
    set_nest(plan, 5, "total[combine]; y[loops]");
    tensor(plan, "sum") = {.each_worker = true};
    kernels(plan)[5].alone = true;
    EXPECT_EQ(refusal(graph(), plan), "");
    tensor(plan, "sum") = {};
    kernels(plan)[4].alone = true;
    EXPECT_EQ(refusal(graph(), plan), "");
}

}  // namespace
}  // namespace tessera::testing
