#include "search/planner/specialisations.h"

#include <gtest/gtest.h>

namespace tessera::planner {
namespace {

// Four sequences with a token each, or one with four; their pages are as many as there are.
TEST(Specialisations, BatchesOfAFewTokensHaveCodeOfTheirOwn) {
    Graph graph{.name = "g", .symbols = {{"T", 1, 64}, {"B", 1, 16}, {"P", 1, 512}}};
    graph.points = {{"decode_1", 3, {{"T", 1}, {"B", 1}, {"P", 32}}},
                    {"batch_4x1", 1, {{"T", 4}, {"B", 4}, {"P", 128}}},
                    {"batch_1x3", 1, {{"T", 3}, {"B", 1}, {"P", 32}}},
                    {"prefill_32", 2, {{"T", 32}, {"B", 1}, {"P", 2}}}};
    const std::vector<plan::SpecialisationPlan> found = specialisations(graph);
    ASSERT_EQ(found.size(), 3);
    const auto bounds = [](int64_t t, int64_t b) {
        return std::map<std::string, plan::SymbolBounds>{{"T", {1, t}}, {"B", {1, b}}, {"P", {1, 512}}};
    };
    EXPECT_EQ(found[0].bounds, bounds(1, 1));
    EXPECT_EQ(found[1].name, "batch");
    EXPECT_EQ(found[1].bounds, bounds(4, 4));
    EXPECT_EQ(found[2].bounds, bounds(64, 16));
    // A larger number than a few belongs to prompts.
    graph.points[1].values["T"] = 8;
    EXPECT_EQ(specialisations(graph)[1].bounds, bounds(64, 4));
}

TEST(Specialisations, WithoutPointsOneIsForAllSizes) {
    const std::vector<plan::SpecialisationPlan> found =
        specialisations({.name = "g", .symbols = {{"T", 1, 64}}});
    ASSERT_EQ(found.size(), 1);
    EXPECT_EQ(found[0].name, "prefill");
    EXPECT_EQ(found[0].bounds.at("T"), (plan::SymbolBounds{1, 64}));
}

// A step that is a batch at most needs no code beside that for all sizes.
TEST(Specialisations, AreNotTwiceForTheSameSizes) {
    const Graph graph{.name = "g",
                      .symbols = {{"T", 1, 2}},
                      .points = {{"decode_1", 1, {{"T", 1}}}, {"batch_1x2", 1, {{"T", 2}}}}};
    const std::vector<plan::SpecialisationPlan> found = specialisations(graph);
    ASSERT_EQ(found.size(), 2);
    EXPECT_EQ(found[0].name, "decode");
    EXPECT_EQ(found[1].name, "prefill");
}

}  // namespace
}  // namespace tessera::planner
