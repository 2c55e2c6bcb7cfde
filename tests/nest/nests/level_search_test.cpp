#include "nest/nests/level_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/nests/example.h"
#include "nest/nests/instance_files.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLevels =
    "level memory\nlevel L1 capacity 4000 bandwidth 1e9\npeak 1e9\ncost serial\nsizes multiple 5\n";

OpenProblem problem_of(const std::string& text) {
    return make_problem(read_kernel_file(text, "t.tiers"));
}

std::string problem_error(const std::string& text) {
    try {
        (void)search(problem_of(text));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(OpenProblems, PriceTheNestThatTheyFind) {
    for (const auto& file : instances_in(own_instances(), ".tiers")) {
        SCOPED_TRACE(file.filename().string());
        const KernelFile read = read_kernel_file(read_text(file), "t");
        const LevelSearchResult found = search(make_problem(read));
        if (!found.nest) continue;
        KernelFile closed = read;
        closed.cost.reset();
        closed.sizes.reset();
        closed.reorder.reset();
        closed.nest = *found.nest;
        const LevelFacts facts = std::get<LevelFacts>(derive_level_facts(closed));
        EXPECT_TRUE(facts.price.is_feasible);
        EXPECT_DOUBLE_EQ(facts.price.cost(make_problem(read).cost), *found.cost);
    }
}

// The least cost of all cannot be below the bound that a search without an end states.
TEST(OpenProblems, StateABoundWhereTheBudgetEnds) {
    for (const auto& file : instances_in(own_instances(), ".tiers")) {
        SCOPED_TRACE(file.filename().string());
        const OpenProblem problem = make_problem(read_kernel_file(read_text(file), "t"));
        const LevelSearchResult all = search(problem);
        const LevelSearchResult some = search(problem, {.candidates = 7});
        EXPECT_EQ(some.status, LevelSearchStatus::kOutOfBudget);
        EXPECT_EQ(some.candidates, 7);
        EXPECT_GT(some.bound, 0);
        EXPECT_LE(some.bound, all.cost.value_or(some.bound));
    }
}

TEST(OpenProblems, TakeNoSizeAboveTheOneAround) {
    const auto candidates = [](const std::string& nest) {
        return search(problem_of("op c(m: 12)\nin A f32[m]\nout C f32[m] = A * 2\n" + std::string(kLevels) +
                                 "nest\n" + nest))
            .candidates;
    };
    EXPECT_EQ(candidates("m:? { c }"), 3);           // 5, 10 and the extent
    EXPECT_EQ(candidates("m:11 { m:? { c } }"), 2);  // the extent is larger than 11
    EXPECT_EQ(candidates("m:? { m:? { c } }"), 6);
    EXPECT_EQ(candidates("m:? { load A @?; c }"), 6);
}

TEST(OpenProblems, RefuseWhatTheyAreNot) {
    const std::string levels = kLevels;
    EXPECT_THAT(problem_error(std::string(kProducts) + levels), HasSubstr("neither a nest nor `reorder`"));
    EXPECT_THAT(problem_error(std::string(kProducts) + levels + "reorder\nnest\n{ c e }\n"),
                HasSubstr("both a nest and `reorder`"));
    EXPECT_THAT(problem_error(std::string(kProducts) + levels + "reorder L2\n"),
                HasSubstr("names `L2`, which is no level behind memory"));
    EXPECT_THAT(
        problem_error(std::string(kProducts) + "level memory\nlevel L1 bandwidth 1\npeak 1\ncost least\n"
                                               "sizes every\nreorder\n"),
        HasSubstr("write nncase, overlap or serial"));
    EXPECT_THAT(problem_error(std::string(kProducts) + levels + "nest\n{ c load A @L1; e }\n"),
                HasSubstr("keeps the rules with no choice of levels"));
    EXPECT_THAT(problem_error("op c(m: 6)\nin A f32[m]\nout C f32[m] = A * 2\n"
                              "op d(m: 6)\nin C f32[m]\nout D f32[m] = C * 2\n"
                              "op e(m: 6)\nin C f32[m], D f32[m]\nout E f32[m] = C + D\n" +
                              levels + "reorder\n"),
                HasSubstr("`c`: is read by 2 operators"));
}

}  // namespace
}  // namespace tessera::nests
