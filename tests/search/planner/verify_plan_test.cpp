// Every kind of illegal plan, each refused with its reason. Plans are edits of one legal plan of a small
// graph.
#include "search/planner/verify_plan.h"

#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "search/planner/default_planner.h"
#include "search/planner/place_buffers.h"
#include "search/planner/plan_refusal.h"
#include "search/planner/small_graph.h"
#include "search/planner/usual_machine.h"
#include "support/error.h"

namespace tessera::testing {
namespace {

const Graph& planned_graph() {
    static const Graph parsed = [] {
        Graph g = parse_graph(kPlannedGraph, "planned.ir");
        verify(g, "planned.ir");
        return g;
    }();
    return parsed;
}

/// One kernel an operator, all of it stored, for all sizes.
plan::Plan plain_plan() {
    plan::SpecialisationPlan s;
    s.name = "all";
    s.bounds = {{"T", {1, 8}}};
    for (const Block& block : planned_graph().blocks) {
        for (const Node& node : block.nodes) {
            if (node.name != "turned" && node.name != "shown" && node.name != "back")
                s.kernels.push_back(
                    {block.name, {{}, {plan::Leaf(node.name, *kernels::find_micro_kernel("loops"))}}});
            for (const ValueId result : node.results) {
                if (planned_graph()[result].name != "result" && planned_graph()[result].name != "other")
                    s.tensors[planned_graph()[result].name] = {};
            }
        }
    }
    s.tensors["turned"] = {plan::Place::kView, "product", {}, 0, {}};
    s.tensors["shown"] = {plan::Place::kView, "again", {}, 0, {}};
    s.tensors["back"] = {plan::Place::kView, "sum", {}, 0, {}};
    s.tensors["rows_new"] = {plan::Place::kInPlace, "rows", {}, 0, {}};
    s.tensors["out"] = {plan::Place::kInPlace, "begin", {}, 0, {}};
    return {.graph = "planned", .machine = "test", .stored = {}, .specialisations = {s}};
}

plan::Nest& nest_of(plan::Plan& plan, const std::string& root_name) {
    for (plan::KernelPlan& kernel : plan.specialisations[0].kernels) {
        if (kernel.nest.root().node == root_name) return kernel.nest;
    }
    throw Error("test", root_name, "has no kernel");
}

void drop(plan::Plan& plan, const std::string& root_name) {
    std::erase_if(plan.specialisations[0].kernels,
                  [&](const plan::KernelPlan& k) { return k.nest.root().node == root_name; });
}

void set_nest(plan::Plan& plan, const std::string& root_name, const std::string& text) {
    nest_of(plan, root_name) = plan::parse_nest(text, "test", kernels::micro_kernels());
}
plan::TensorPlan& plan_of(plan::Plan& plan, const std::string& name) {
    return plan.specialisations[0].tensors.at(name);
}
void take(plan::Plan& plan, const std::string& name, plan::Place place, const std::string& of) {
    plan_of(plan, name) = {place, of, {}, 0, {}};
}

std::vector<IllegalEdit> illegal_edits() {
    return {
        {"AnotherGraph", [](plan::Plan& p) { p.graph = "other"; },
         "plan.toml: `other`: is the graph of this plan, the model's is planned (make a plan of this model "
         "by `tessera compile --dump DIR`)"},
        // Kernels.
        {"KernelMissing", [](plan::Plan& p) { drop(p, "product"); },
         kHere + "`product`: is computed by no kernel of block layer"},
        {"ComputedTwice", [](plan::Plan& p) { set_nest(p, "product", "scaled[loops]; product[loops]"); },
         kHere + "`scaled`: is computed twice"},
        {"UnknownBlock", [](plan::Plan& p) { p.specialisations[0].kernels[0].block = "nowhere"; },
         kHere + "`begin`: is computed by no kernel of block first"},
        {"ExtraBlock",
         [](plan::Plan& p) {
             p.specialisations[0].kernels.push_back(
                 {"nowhere", plan::parse_nest("begin[loops]", "", kernels::micro_kernels())});
         },
         kHere + "`nowhere`: is no block of the graph"},
        {"UnknownOperator", [](plan::Plan& p) { set_nest(p, "product", "gemm[loops]"); },
         kHere + "`gemm`: is no operator of block layer"},
        {"OperatorOfAnotherBlock",
         [](plan::Plan& p) { set_nest(p, "product", "begin[loops]; product[loops]"); },
         kHere + "`begin`: is no operator of block layer"},
        {"KernelTooEarly", [](plan::Plan& p) { std::swap(nest_of(p, "scaled"), nest_of(p, "product")); },
         kHere + "`product`: is computed before scaled, which it reads"},
        {"TooEarlyInItsKernel",
         [](plan::Plan& p) { drop(p, "norm"), set_nest(p, "scaled", "scaled[loops]; norm[loops]"); },
         kHere + "`scaled`: is computed before norm, which it reads"},
        {"TooEarlyThroughAView", [](plan::Plan& p) { std::swap(nest_of(p, "product"), nest_of(p, "few")); },
         kHere + "`few`: is computed before product, which it reads"},
        // Micro-kernels.
        {"NotAProduct", [](plan::Plan& p) { set_nest(p, "scaled", "scaled[contract k=n n=t]"); },
         kHere + "`scaled`: micro-kernel contract does not implement it: its monoid is not sum"},
        {"SquaresAreNoProduct", [](plan::Plan& p) { set_nest(p, "norm", "norm[dot k=n n=t]"); },
         kHere + "`norm`: micro-kernel dot does not implement it: its body is no product of an operand and "
                 "others"},
        {"NotASoftmax", [](plan::Plan& p) { set_nest(p, "product", "product[stream d=n]"); },
         kHere + "`product`: micro-kernel stream does not implement it: its monoid is not softmax_sum"},
        {"ParameterMissing", [](plan::Plan& p) { set_nest(p, "product", "product[contract n=n]"); },
         kHere + "`product`: micro-kernel contract needs k"},
        {"UnknownIterator", [](plan::Plan& p) { set_nest(p, "product", "product[loops lanes=4 x=z]"); },
         "product: `x`: names z, which is no iterator of the operator"},
        {"RolesExchanged", [](plan::Plan& p) { set_nest(p, "product", "product[contract k=n n=k]"); },
         "product: `contract`: n must index one factor and the result, k both factors and not the result, m "
         "the "
         "other factor and the result (choose other iterators for m, n and k)"},
        {"LanesWithoutIterator", [](plan::Plan& p) { set_nest(p, "product", "product[loops lanes=4]"); },
         "product: `lanes`: there are lanes but no iterator for them (give x=ITERATOR)"},
        {"LanesApart", [](plan::Plan& p) { set_nest(p, "product", "product[contract k=k lanes=4 m=t n=n]"); },
         "product: `W`: its lanes are 16 elements apart (the kernel needs them side by side: choose a layout "
         "with these lanes)"},
        {"PredicateBetweenLanes", [](plan::Plan& p) { set_nest(p, "few", "few[loops lanes=4 x=n]"); },
         "few: `where`: differs between the lanes of a store (choose another iterator for the lanes, or "
         "scalars)"},
        {"LanesIrregular",
         [](plan::Plan& p) {
             plan_of(p, "scaled").layout = {{1, 0}, {{1, 2}}};
             set_nest(p, "scaled", "scaled[loops lanes=4 x=n]");
         },
         "scaled: `Y`: its lanes lie irregularly, at (#lane mod 2) + (((#lane div 2) + (i_n div 2)) * (2 * "
         "s_T)) "
         "+ 2 * i_t (choose another iterator for the lanes, fewer lanes, or another layout)"},
        // Loops.
        {"UnknownLoop", [](plan::Plan& p) { set_nest(p, "product", "z:4 { product[loops] }"); },
         "product: `z`: is no iterator of the nest's last operator"},
        {"StoredWholeButComputedInPart",
         [](plan::Plan& p) {
             drop(p, "begin");
             drop(p, "aside");
             p.specialisations[0].kernels.insert(
                 p.specialisations[0].kernels.begin(),
                 {"first", plan::parse_nest("begin[loops]; aside[loops]", "", kernels::micro_kernels())});
             drop(p, "product");
             set_nest(p, "few", "t:1 n:4 { product[loops]; few[loops] }");
         },
         "product: `product`: is stored whole, but stands in a loop that a predicate of the nest's last "
         "operator ends early (place it as a tile, or take the operator out of that loop)"},
        {"MadeAgainFromItself",
         [](plan::Plan& p) {
             take(p, "sum", plan::Place::kInPlace, "out");
             drop(p, "sum");
             set_nest(p, "other", "n:4 { sum[loops]; other[loops] }");
             std::swap(nest_of(p, "other"), nest_of(p, "result"));
         },
         "sum: `sum`: is made from what it replaces, but every trip of the loop i_n_tile makes it again "
         "(give "
         "it storage of its own, or take the operator out of that loop)"},
        // Places.
        {"NoPlace", [](plan::Plan& p) { p.specialisations[0].tensors.erase("product"); },
         kHere + "`product`: has no place"},
        {"PlaceOfAnInput", [](plan::Plan& p) { p.specialisations[0].tensors["x"] = {}; },
         kHere + "`x`: is no intermediate value of the graph"},
        {"PlaceOfAnOutput", [](plan::Plan& p) { p.specialisations[0].tensors["result"] = {}; },
         kHere + "`result`: is an output: the caller says where it lies"},
        {"ViewOfNothing", [](plan::Plan& p) { take(p, "turned", plan::Place::kView, "nothing"); },
         kHere + "`turned`: takes nothing, which is no value of the graph"},
        {"ViewOfAnother", [](plan::Plan& p) { take(p, "turned", plan::Place::kView, "scaled"); },
         kHere + "`turned`: is a view of product, not of scaled"},
        {"ViewOfItself", [](plan::Plan& p) { take(p, "turned", plan::Place::kView, "turned"); },
         kHere + "`turned`: is a view of product, not of turned"},
        {"ViewThatComputes",
         [](plan::Plan& p) { take(p, "scaled", plan::Place::kView, "begin"), drop(p, "scaled"); },
         kHere + "`scaled`: computes something, so its result is no view"},
        {"ViewThatIsComputedToo", [](plan::Plan& p) { set_nest(p, "few", "turned[loops]; few[loops]"); },
         kHere + "`turned`: is a view, and a kernel computes it too"},
        {"ViewWithALayout",
         [](plan::Plan& p) {
             plan_of(p, "turned").layout = {{1, 0}, {}};
         },
         kHere + "`turned`: has a layout of its own, but no storage"},
        {"InPlaceInACircle",
         [](plan::Plan& p) {
             take(p, "again", plan::Place::kInPlace, "few");
             take(p, "few", plan::Place::kInPlace, "again");
         },
         kHere + "`again`: stands for itself, by way of others"},
        {"InPlaceOfAnInput", [](plan::Plan& p) { take(p, "begin", plan::Place::kInPlace, "x"); },
         kHere + "`begin`: takes over x, which is not the step's own"},
        {"InPlaceOfAState", [](plan::Plan& p) { take(p, "again", plan::Place::kInPlace, "rows_new"); },
         kHere + "`again`: takes over rows_new, which is not the step's own"},
        {"InPlaceOfWhatItDoesNotRead",
         [](plan::Plan& p) { take(p, "product", plan::Place::kInPlace, "begin"); },
         kHere + "`product`: does not read begin, so it cannot be in place of it"},
        {"InPlaceOfOtherElements", [](plan::Plan& p) { take(p, "product", plan::Place::kInPlace, "scaled"); },
         kHere + "`product`: reads scaled at other elements than it writes, so it cannot be in place"},
        {"InPlaceWhileStillRead", [](plan::Plan& p) { take(p, "scaled", plan::Place::kInPlace, "begin"); },
         kHere + "`scaled`: takes over begin, which out still reads"},
        {"InPlaceWhileReadThroughAView", [](plan::Plan& p) { take(p, "both", plan::Place::kInPlace, "sum"); },
         kHere + "`both`: takes over sum, where both reads other elements than it writes"},
        {"InPlaceOfOneOperandWhileReadAsAnother",
         [](plan::Plan& p) { take(p, "far", plan::Place::kInPlace, "both"); },
         kHere + "`far`: takes over both, where far reads other elements than it writes"},
        {"InPlaceOfAViewThatRepeats", [](plan::Plan& p) { take(p, "out", plan::Place::kInPlace, "shown"); },
         kHere + "`out`: takes over shown, which shows some elements more than once"},
        {"InPlaceOfWhatAnotherBlockReads",
         [](plan::Plan& p) { take(p, "out", plan::Place::kInPlace, "aside"); },
         kHere + "`out`: takes over aside, which sum of block last still reads"},
        {"StateNotInPlace", [](plan::Plan& p) { plan_of(p, "rows_new") = {}; },
         kHere + "`rows_new`: updates rows and must be in place of it"},
        {"CarriedValueElsewhere", [](plan::Plan& p) { plan_of(p, "out") = {}; },
         kHere + "`out`: must end in the storage of begin, where the next repetition of block layer reads it "
                 "(place it, or what it is made from, `in place of` the carried value)"},
        {"TileOfAnotherKernel", [](plan::Plan& p) { plan_of(p, "scaled").place = plan::Place::kTile; },
         kHere + "`scaled`: exists by tiles only, but product reads it in another kernel"},
        {"TileOfAnotherKernelThroughAView",
         [](plan::Plan& p) { plan_of(p, "product").place = plan::Place::kTile; },
         kHere + "`product`: exists by tiles only, but few reads it in another kernel"},
        {"TileOfAnotherBlock", [](plan::Plan& p) { plan_of(p, "aside").place = plan::Place::kTile; },
         kHere + "`aside`: exists by tiles only, but out reads it in another kernel"},
        // Layouts and sizes.
        {"NoPermutation",
         [](plan::Plan& p) {
             p.stored["w"] = {{0, 0}, {}};
         },
         "plan.toml: `w`: order [0, 0] is no permutation of the 2 axes"},
        {"LaneOfNoAxis",
         [](plan::Plan& p) {
             plan_of(p, "norm").layout = {{}, {{1, 4}}};
         },
         kHere + "`norm`: lane 1:4 names no axis of 1"},
        {"LaneOfOne",
         [](plan::Plan& p) {
             p.stored["w"] = {{}, {{1, 1}}};
         },
         "plan.toml: `w`: lane 1:1 has a factor below 2"},
        {"StoredIntermediate", [](plan::Plan& p) { p.stored["scaled"] = {}; },
         "plan.toml: `scaled`: is no constant or state of the graph"},
        {"BoundsMissing", [](plan::Plan& p) { p.specialisations[0].bounds.clear(); },
         kHere + "`T`: has no bounds"},
        {"BoundsTooWide",
         [](plan::Plan& p) {
             p.specialisations[0].bounds["T"] = {0, 8};
         },
         kHere + "`T`: has bounds [0, 8], the graph allows [1, 8]"},
        {"BoundsReversed",
         [](plan::Plan& p) {
             p.specialisations[0].bounds["T"] = {4, 2};
         },
         kHere + "`T`: has bounds [4, 2], the graph allows [1, 8]"},
        {"UnknownSymbol",
         [](plan::Plan& p) {
             p.specialisations[0].bounds["U"] = {1, 1};
         },
         kHere + "`U`: is no symbol of the graph"},
        {"NotForAllSizes",
         [](plan::Plan& p) {
             p.specialisations[0].bounds["T"] = {1, 7};
         },
         "plan.toml: `specialisation`: none covers the bounds of all symbols"},
        {"NoSpecialisation", [](plan::Plan& p) { p.specialisations.clear(); },
         "plan.toml: `specialisation`: none covers the bounds of all symbols"},
        {"OneNameTwice", [](plan::Plan& p) { p.specialisations.push_back(p.specialisations[0]); },
         "plan.toml: `all`: is no name of a specialisation, or is given twice"},
        {"NoName", [](plan::Plan& p) { p.specialisations[0].name = "all sizes"; },
         "plan.toml: `all sizes`: is no name of a specialisation, or is given twice"},
    };
}

/// Why `contract` with these parameters is refused for a product of such rows; "" if it is not.
std::string refused_product(const std::string& rows_type, const std::string& parameters) {
    const Graph product = parse_graph(fmt::format(R"(graph "product"
input x: {0}[64, 32]
constant w: bf16[16, 32] from "w"
value y: f32[64, 16]
block main
  node y(x, w) -> y
    op matmul(t: 64, n: 16, k*: 32)
    in X {0}[t, k]
    in W bf16[n, k]
    out Y f32[t, n] = sum(X * W)
output y
)",
                                                  rows_type),
                                      "product.ir");
    plan::Plan plan = planner::default_plan(product, testing::on_usual_machine({.machine = "test"}));
    plan.specialisations[0].kernels[0].nest =
        plan::parse_nest("y[contract k=k m=t n=n " + parameters + "]", "test", kernels::micro_kernels());
    return refusal(product, plan);
}

TEST(VerifyPlan, PanelsAreForRowsOfF32) {
    EXPECT_EQ(refused_product("f32", "panel_blocks=4"), "");
    EXPECT_EQ(refused_product("bf16", "panel_blocks=4"),
              "y: `panel_blocks`: X is of bf16; panels are for rows of f32 (leave panel_blocks out)");
}

TEST(VerifyPlan, StreamsAreAsManyAsTheGroupsOfABlock) {
    EXPECT_EQ(refused_product("f32", "groups=4 streams=4"), "");
    EXPECT_EQ(refused_product("f32", "groups=4 streams=2"),
              "y: `streams`: is 2, expected the groups of a block, 4");
    EXPECT_EQ(refused_product("f32", "groups=2 panel_blocks=4 streams=2"),
              "y: `streams`: is for what is read without panels (leave streams or panel_blocks out)");
}

class IllegalPlan : public ::testing::TestWithParam<IllegalEdit> {};

TEST_P(IllegalPlan, IsRefusedWithItsReason) {
    plan::Plan plan = plain_plan();
    GetParam().edit(plan);
    EXPECT_EQ(refusal(planned_graph(), plan), GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(Cases, IllegalPlan, ::testing::ValuesIn(illegal_edits()),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(LegalPlan, PlainAndDefaultPlansAreLegal) {
    EXPECT_EQ(refusal(planned_graph(), plain_plan()), "");
    for (const int64_t lanes : {1, 4, 16})
        EXPECT_EQ(refusal(planned_graph(),
                          planner::default_plan(planned_graph(), testing::on_usual_machine(
                                                                     {.machine = "test", .lanes = lanes}))),
                  "")
            << lanes;
}

TEST(LegalPlan, TilesAndReplacementsAreLegalWhereNothingElseSeesThem) {
    plan::Plan plan = plain_plan();
    drop(plan, "norm");
    set_nest(plan, "scaled", "t:2 { norm[loops]; scaled[loops] }");
    plan_of(plan, "norm").place = plan::Place::kTile;
    take(plan, "again", plan::Place::kInPlace, "few");
    EXPECT_EQ(refusal(planned_graph(), plan), "");
}

TEST(PlacedPlan, ProgramsThatArePlacedAreThoseOfThePlacedPlan) {
    const planner::LoweredPlan lowered = planner::lowered_and_placed(planned_graph(), plain_plan());
    EXPECT_EQ(lowered.programs, planner::verify_plan(planned_graph(), lowered.plan, "plan.toml"));
    EXPECT_NO_THROW(planner::verify_lowered(planned_graph(), lowered, "plan.toml"));
}

/// Offsets as a person edits them: sizes still fit, so they are kept, and checked.
TEST(PlacedPlan, WrongOffsetsAreRefused) {
    plan::Plan placed = planner::place_buffers(planned_graph(), plain_plan());
    planner::verify_plan(planned_graph(), placed, "plan.toml");
    plan::Plan overlapping = placed;
    plan_of(overlapping, "norm").offset = *plan_of(overlapping, "begin").offset;
    EXPECT_EQ(refusal(planned_graph(), overlapping),
              kHere + "`tensors`: begin and norm overlap while both are alive");
    plan::Plan outside = placed;
    plan_of(outside, "norm").offset = placed.specialisations[0].arena_bytes;
    EXPECT_EQ(
        refusal(planned_graph(), outside),
        kHere +
            fmt::format(
                "`tensors`: norm at {0} with 32 bytes does not lie on a line inside the arena of {0} bytes",
                placed.specialisations[0].arena_bytes));
    plan::Plan off_line = placed;
    off_line.specialisations[0].arena_bytes += 64;
    plan_of(off_line, "norm").offset = placed.specialisations[0].arena_bytes + 4;
    EXPECT_EQ(
        refusal(planned_graph(), off_line),
        kHere + fmt::format(
                    "`tensors`: norm at {} with 32 bytes does not lie on a line inside the arena of {} bytes",
                    placed.specialisations[0].arena_bytes + 4, placed.specialisations[0].arena_bytes + 64));
    plan::Plan small = placed;
    small.specialisations[0].arena_bytes = 0;
    EXPECT_NE(refusal(planned_graph(), small).find("does not lie on a line inside the arena of 0 bytes"),
              std::string::npos)
        << refusal(planned_graph(), small);
}

}  // namespace
}  // namespace tessera::testing
