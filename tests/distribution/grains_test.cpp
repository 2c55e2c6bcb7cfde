// Grains go from where they are an extent to everything that it is a part of.
#include "distribution/grains.h"

#include <gtest/gtest.h>

#include "distribution/choices.h"
#include "distribution/distribute.h"
#include "distribution/read_problem.h"

namespace tessera::distribution {
namespace {

/// Nine heads of four elements out of a product, in groups of three.
Problem heads(const std::string& devices) {
    Problem problem = read_problem(
        "op q(n: 36, k*: 5)\nin  X f32[k], W f32[n, k]\nout Q f32[n] = sum(X * W)\n"
        "op heads(h: 9, e: 4)\nin Q f32[h * 4 + e] of [36]\nout H f32[h, e] = Q * 2\n"
        "op groups(g: 3, r: 3, e*: 4)\nin H f32[g * 3 + r, e] of [9, 4]\n"
        "out G f32[g, r] = sum(H)\n" +
            devices +
            "compute flops 1e9 bytes 1e9\nmemory unlimited\nconstant W\ninput X B\n"
            "output G B\n",
        "t.dist");
    problem.cut = facts::Cut::kRagged;
    derive_grains(problem);
    return problem;
}

using Numbers = std::vector<int64_t>;

TEST(Grains, FollowHeadsAndGroups) {
    const Problem problem = heads("devices 2 alpha 1e-9 beta 1e-9\n");
    EXPECT_EQ(problem.operators[0].grains, (std::vector<Numbers>{{4, 12}, {}}));
    EXPECT_EQ(problem.operators[1].grains, (std::vector<Numbers>{{3}, {}}));
    EXPECT_EQ(problem.operators[2].grains, (std::vector<Numbers>{{}, {}, {}}));
}

TEST(Grains, AreLeftOutWherePartsAreEqualAnyway) {
    const Problem problem = heads("devices 3 alpha 1e-9 beta 1e-9\n");
    for (const Operator& op : problem.operators)
        for (const Numbers& grains : op.grains)
            for (const int64_t grain : grains) EXPECT_NE(36 / grain % 3, 0) << op.name();
}

TEST(Grains, AreNoneOfEvenCuts) {
    Problem problem = heads("devices 2 alpha 1e-9 beta 1e-9\n");
    problem.cut = facts::Cut::kEvenly;
    problem.operators[0].grains.clear();
    derive_grains(problem);
    EXPECT_TRUE(problem.operators[0].grains.empty());
}

TEST(Grains, MakeFormsThatTheNextOperatorReads) {
    const Problem problem = heads("devices 2 alpha 1e-9 beta 1e-9\n");
    bool found = false;
    for (const Choice& choice : derive_choices(problem, problem.operators[0]))
        if (text(choice.levels[0], problem.operators[0].bound.definition) == "n:12") {
            found = true;
            EXPECT_EQ(text(choice.forms[1]), "[S(0:12)]");
            EXPECT_EQ(text(choice.forms[2]), "[S(0:12)]");
        }
    EXPECT_TRUE(found);
    found = false;
    for (const Choice& choice : derive_choices(problem, problem.operators[2]))
        if (text(choice.levels[0], problem.operators[2].bound.definition) == "g") {
            found = true;
            EXPECT_EQ(text(choice.forms[0]), "[S(0:3)]");
            EXPECT_EQ(text(choice.forms[1]), "[S(0)]");
        }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tessera::distribution
