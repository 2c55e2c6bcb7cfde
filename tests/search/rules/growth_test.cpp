// How the work of rewriting grows with a program: counted, never timed.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "ir/growing_programs.h"
#include "search/rules/rewrite.h"

namespace tessera::rules {
namespace {

constexpr int kFew = 16, kMany = 48;

struct Work {
    int64_t nodes = 0, matches = 0, priced = 0;
    std::string cut_short;
};

Work work_of(const std::string& text, const egraph::SaturationOptions& limits) {
    const Graph graph = parse_graph(text, "growing");
    verify(graph, "growing");
    Work work;
    RewriteOptions options{.cost = [&](const egraph::Operator&, std::span<const TensorType>) {
        ++work.priced;
        return 1.0;
    }};
    if (limits.nodes > 0) options.saturation = limits;
    const Rewritten result = rewrite(graph, options);
    for (const BlockRewrite& block : result.blocks) {
        work.nodes += block.saturation.nodes;
        for (const egraph::RuleReport& rule : block.saturation.rules) work.matches += rule.matches;
    }
    work.cut_short = cut_short(result.blocks);
    return work;
}

class Growth : public ::testing::TestWithParam<size_t> {};

TEST_P(Growth, OfRewritingIsNearLinear) {
    const tessera::testing::GrowingKind kind = tessera::testing::growing_kinds().at(GetParam());
    const egraph::SaturationOptions usual{.nodes = 0};
    const Work few = work_of(kind.text(kFew), usual), many = work_of(kind.text(kMany), usual);
    // Three times as large; a rule looks for its matches in each iteration again.
    constexpr int64_t kFactor = 4;
    EXPECT_LE(many.nodes, kFactor * few.nodes) << kind.name;
    EXPECT_LE(many.matches, 2 * kFactor * few.matches) << kind.name;
    EXPECT_LE(many.priced, kFactor * few.priced) << kind.name;
    EXPECT_EQ(many.cut_short, "") << kind.name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Growth, ::testing::Range(size_t{0}, tessera::testing::growing_kinds().size()),
                         [](const auto& kind) {
                             std::string name = tessera::testing::growing_kinds()[kind.param].name;
                             std::ranges::replace(name, ' ', '_');
                             return name;
                         });

TEST(Growth, WhatALimitCutsShortIsSaid) {
    const std::string said = work_of(tessera::testing::fan_of_products(kFew), {.nodes = 100}).cut_short;
    EXPECT_NE(said.find("block main stopped at "), std::string::npos) << said;
    EXPECT_NE(said.find("the limit of nodes"), std::string::npos) << said;
}

}  // namespace
}  // namespace tessera::rules
