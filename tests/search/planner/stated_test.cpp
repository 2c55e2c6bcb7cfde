#include "search/planner/stated.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowering/kernels/micro_kernels.h"
#include "search/planner/default_planner.h"
#include "search/planner/loads.h"
#include "search/planner/rows_graph.h"
#include "search/planner/usual_machine.h"
#include "search/planner/verify_plan.h"
#include "support/error.h"

namespace tessera::planner {
namespace {

using ::testing::HasSubstr;

std::vector<plan::StatedKernel> stated_in(const std::string& toml) {
    return without_loads(plan::parse_stated_kernels(toml, "kernels.toml", kernels::micro_kernels()));
}

/// The nests of the plan around these kernels.
std::vector<std::string> planned(const std::string& toml, const Graph& graph = testing::rows_graph()) {
    PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});
    options.stated = stated_in(toml);
    const plan::Plan initial = initial_plan(graph, options);
    check_stated(graph, initial, options.stated);
    const plan::Plan plan = complete_plan(graph, initial, options);
    verify_plan(graph, plan, "plan");
    std::vector<std::string> nests;
    for (const plan::KernelPlan& kernel : plan.specialisations.back().kernels)
        nests.push_back(plan::print(kernel.nest));
    return nests;
}

std::string refusal(const std::string& toml, const Graph& graph = testing::rows_graph()) {
    try {
        (void)planned(toml, graph);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

std::string kernel(const std::string& nest) {
    return "[[kernel]]\nnest = \"" + nest + "\"\n";
}

TEST(StatedKernels, AreKeptAndTheRestIsPlannedAroundThem) {
    const std::vector<std::string> nests =
        planned(kernel("t:4 { r; d:16 { normed[loops lanes=8 x=d]; doubled } }"));
    ASSERT_EQ(nests.size(), 2U);
    EXPECT_THAT(nests[0], HasSubstr("t:4 { r[loops"));
    EXPECT_THAT(nests[0], HasSubstr("d:16 { normed[loops lanes=8 x=d]; doubled[loops"));
    EXPECT_THAT(nests[1], HasSubstr("y[loops"));
}

TEST(StatedKernels, OpenTilesAreSearched) {
    const std::vector<std::string> nests = planned(kernel("t:? { r; normed; doubled; y }"));
    ASSERT_EQ(nests.size(), 1U);
    EXPECT_EQ(nests[0].find('?'), std::string::npos) << nests[0];
}

TEST(StatedKernels, OfOtherSpecialisationsChangeNothingHere) {
    EXPECT_EQ(planned("[[kernel]]\nspecialisation = \"prefill\"\nnest = \"r\"\n"), planned(kernel("r")));
}

TEST(StatedKernels, AResultThatTheSameKernelUpdatesTakesNothingOver) {
    const Graph graph = parse_graph(R"(graph "updated"
input x: f32[8, 16]
input z: f32[8, 16]
value a: f32[8, 16]
value s: f32[8]
value b: f32[8, 16]
value c: f32[8, 16]
value y: f32[8, 16]

block main
  node a(x) -> a
    op double(i: 8, j: 16)
    in X f32[i, j]
    out Y f32[i, j] = X * 2
  node s(a) -> s
    op total(i: 8, j*: 16)
    in X f32[i, j]
    out Y f32[i] = sum(X)
  node b(a) -> b
    op increase(i: 8, j: 16)
    in X f32[i, j]
    out Y f32[i, j] = X + 1
  node c(z) over b -> c
    op store(i: 8, j: 16)
    in X f32[i, j]
    update Y f32[i, j] = X
    where j <= i
  node y(c, s) -> y
    op add(i: 8, j: 16)
    in X f32[i, j]
    in S f32[i]
    out Y f32[i, j] = X + S

output y
)",
                                    "updated");
    const std::vector<std::string> nests =
        planned(kernel("a") + kernel("s") + kernel("i:2 { b; c }") + kernel("y"), graph);
    ASSERT_EQ(nests.size(), 4U);
    EXPECT_THAT(nests[2], HasSubstr("i:2 { b[loops"));
}

/// Tiles along a diagonal make a part of what another kernel reads whole.
TEST(StatedKernels, ADiagonalIsNoReasonToMakeTheRest) {
    const Graph graph = parse_graph(R"(graph "diagonal"
input x: f32[8, 8]
value a: f32[8, 8]
value d: f32[8]
value y: f32[8, 8]

block main
  node a(x) -> a
    op double(i: 8, j: 8)
    in X f32[i, j]
    out Y f32[i, j] = X * 2
  node d(a) -> d
    op diagonal(i: 8)
    in X f32[i, i] of [8, 8]
    out Y f32[i] = X
  node y(a) -> y
    op transpose(i: 8, j: 8)
    in X f32[j, i]
    out Y f32[i, j] = X

output d, y
)",
                                    "diagonal");
    EXPECT_THAT(refusal(kernel("i:2 { a; d }") + kernel("y"), graph),
                HasSubstr("is stored whole, but two of its axes follow the loop i"));
}

/// Behind the loop over k the tile of l is that of its last trip.
TEST(StatedKernels, ReadNoTileBehindTheLoopsThatMakeIt) {
    const Graph graph = parse_graph(R"(graph "folded"
symbol T in 1..16
point prompt weight 1: T = 16
input x: f32[T, 9]
input w: f32[32, 9]
value l: f32[32]
value y: f32[T, 32]

block main
  node l(w) -> l
    op largest(n: 32, k*: 9)
    in W f32[n, k]
    out Y f32[n] = max(W)
  node y(x, w, l) -> y
    op product(t: T, n: 32, k*: 9)
    dim T in 1..16
    in X f32[t, k]
    in W f32[n, k]
    in L f32[n]
    out Y f32[t, n] = sum(X * W) * 0.5 + L

output y
)",
                                    "folded");
    EXPECT_THAT(refusal(kernel("n:16 k:8 { l; y }"), graph),
                HasSubstr("is read behind the loops over the reduction"));
    EXPECT_THAT(refusal(kernel("n:16 { l; k:8 { y } }"), graph), HasSubstr("accepted"));
    EXPECT_THAT(refusal(kernel("n:16 { l; y }"), graph), HasSubstr("accepted"));
}

TEST(StatedKernels, AreRefusedWithPositionAndReason) {
    EXPECT_THAT(refusal(kernel("t:4 { normd; doubled }")),
                HasSubstr("kernels.toml:1: `normd`: is no operator of block main"));
    EXPECT_THAT(refusal(kernel("nothing")), HasSubstr("`nothing`: is no operator of this model"));
    EXPECT_THAT(refusal(kernel("z:4 { normed; doubled }")), HasSubstr("`z`: is no iterator of doubled"));
    EXPECT_THAT(refusal(kernel("t:4 { normed; y }")), HasSubstr("is read by doubled, whose kernel runs"));
    EXPECT_THAT(refusal(kernel("t:4 d:16 { r; normed }") + kernel("normed")),
                HasSubstr("is in another kernel"));
    EXPECT_THAT(refusal(kernel("t:4@worker { r; normed }")), HasSubstr("@worker"));
    EXPECT_THAT(refusal(kernel("t:4 { normed; r }")), ::testing::Not(HasSubstr("accepted")));
    EXPECT_THAT(refusal("[[kernel]]\nspecialisation = \"decod\"\nnest = \"r\"\n"),
                HasSubstr("`decod`: is no specialisation"));
    EXPECT_THAT(refusal("[[kernel]]\nnests = \"r\"\n"), HasSubstr("`nest`: is missing"));
    EXPECT_THAT(refusal(kernel("r[lops]")), HasSubstr("lops is no micro-kernel"));
    EXPECT_THAT(refusal(kernel("t:4 {")), HasSubstr("kernels.toml:1"));
}

std::vector<StatedVerdict> priced_alone(const std::string& toml, const Graph& graph = testing::rows_graph()) {
    const PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});
    return price_stated(graph, initial_plan(graph, options), stated_in(toml), options);
}

TEST(StatedPrices, AreThoseThatPlanningCounts) {
    const Graph graph = testing::rows_graph();
    const std::string toml = kernel("t:4 { r; normed; doubled; y }");
    PlannerOptions options = testing::on_usual_machine({.machine = "test", .lanes = 8, .nests = 1});
    options.stated = stated_in(toml);
    double seconds = 0;
    options.on_schedule = [&](const std::string&, const std::string&, const schedule::Schedule& schedule) {
        seconds += schedule.seconds;
    };
    (void)complete_plan(graph, initial_plan(graph, options), options);
    const std::vector<StatedVerdict> verdicts = priced_alone(toml);
    ASSERT_EQ(verdicts.size(), 1U);
    const auto& price = std::get<StatedPrice>(verdicts.front().verdict);
    EXPECT_EQ(price.cost.seconds, seconds);
    double held = 0;
    for (const cost::Evaluator::Buffer& buffer : price.buffers) held += buffer.bytes;
    EXPECT_EQ(price.buffers.size(), 3U);
    EXPECT_EQ(held, price.cost.buffer_bytes);
}

TEST(StatedPrices, EachNestIsJudgedAlone) {
    const std::vector<std::string> nests = {"t:4 { r; doubled }", "t:4 { r; normed; doubled }",
                                            "d:4 { r; normed; doubled }", "t:4 { r; normed; doubled; y }"};
    std::string all;
    for (const std::string& nest : nests) all += kernel(nest);
    const std::vector<StatedVerdict> together = priced_alone(all);
    ASSERT_EQ(together.size(), nests.size());
    for (size_t i = 0; i < nests.size(); ++i) {
        const StatedVerdict alone = std::move(priced_alone(kernel(nests[i])).front());
        ASSERT_EQ(together[i].verdict.index(), alone.verdict.index()) << nests[i];
        if (const auto* refusal = std::get_if<StatedRefusal>(&alone.verdict)) {
            EXPECT_EQ(std::get<StatedRefusal>(together[i].verdict).why.problem, refusal->why.problem);
            continue;
        }
        EXPECT_EQ(std::get<StatedPrice>(together[i].verdict).nest, std::get<StatedPrice>(alone.verdict).nest);
        EXPECT_EQ(std::get<StatedPrice>(together[i].verdict).cost.seconds,
                  std::get<StatedPrice>(alone.verdict).cost.seconds);
    }
    EXPECT_EQ(std::get<StatedRefusal>(together[0].verdict).kind, StatedRefusal::Kind::kForm);
    EXPECT_TRUE(std::holds_alternative<StatedPrice>(together[1].verdict));
}

/// But for the place of what a block carries, which depends on all kernels of the plan.
TEST(StatedPrices, RefuseWhatPlanningRefuses) {
    const Graph graph = parse_graph(R"(graph "carried"
input x: f32[8, 8]
value h: f32[8, 8]
value a: f32[8, 8]
value s: f32[8]
value b: f32[8, 8]
value h2: f32[8, 8]
value y: f32[8, 8]

block first
  node h(x) -> h
    op double(i: 8, j: 8)
    in X f32[i, j]
    out Y f32[i, j] = X * 2
block layer repeat 3 carry h -> h2
  node a(h) -> a
    op turn(i: 8, j: 8)
    in X f32[j, i]
    out Y f32[i, j] = X
  node s(h) -> s
    op total(i: 8, j*: 8)
    in X f32[i, j]
    out Y f32[i] = sum(X)
  node b(a, s) -> b
    op scale(i: 8, j: 8)
    in X f32[i, j]
    in S f32[i]
    out Y f32[i, j] = X * S
  node h2(h, b) -> h2
    op add(i: 8, j: 8)
    in H f32[i, j]
    in X f32[i, j]
    out Y f32[i, j] = H + X
block last
  node y(h2) -> y
    op negate(i: 8, j: 8)
    in X f32[i, j]
    out Y f32[i, j] = -X

output y
)",
                                    "carried");
    verify(graph, "carried");
    int refused = 0;
    for (const char* nest : {"s", "h2", "i:2 { a; s; b }", "i:2 { b; h2 }", "i:2 { a; s; b; h2 }",
                             "{ s; b; h2 }", "i:4 { s; b }", "{ a; s; b; h2 }", "i:2 { a; b }",
                             "j:2 { s; b; h2 }", "i:2 j:2 { b; h2 }", "i:8 { a; b; h2 }"}) {
        const std::vector<StatedVerdict> verdicts = priced_alone(kernel(nest), graph);
        ASSERT_EQ(verdicts.size(), 1U);
        const bool is_refused = std::holds_alternative<StatedRefusal>(verdicts.front().verdict);
        const std::string planned = refusal(kernel(nest), graph);
        if (is_refused)
            EXPECT_NE(planned, "accepted") << nest;
        else
            EXPECT_THAT(planned, ::testing::AnyOf("accepted", HasSubstr("carries from staying"))) << nest;
        refused += is_refused;
    }
    EXPECT_GE(refused, 1);
}

TEST(StatedPrices, SayWhyANestWithoutChoicesDoesNotLower) {
    const auto why = [](const std::string& nest) {
        return std::string(std::get<StatedRefusal>(priced_alone(kernel(nest)).front().verdict).why.text());
    };
    EXPECT_THAT(why("r[dot n=t k=d lanes=8]"), ::testing::Not(HasSubstr("no choice")));
}

TEST(StatedPrices, KernelsOfOneSpecialisationArePricedThere) {
    EXPECT_EQ(priced_alone("[[kernel]]\nspecialisation = \"prefill\"\nnest = \"r\"\n").size(), 1U);
    EXPECT_TRUE(priced_alone("[[kernel]]\nspecialisation = \"decode\"\nnest = \"r\"\n").empty());
}

}  // namespace
}  // namespace tessera::planner
