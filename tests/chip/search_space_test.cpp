#include "chip/search_space.h"

#include <gtest/gtest.h>

namespace tessera::chip {
namespace {

TEST(SearchSpace, CountsAsTable2OfThePaper) {
    const auto op = [](const char* name, int64_t bytes, size_t rows) {
        return Operator{name,
                        std::vector<Row>(rows, Row{.preload_bytes = bytes, .exec_bytes = 1, .compute = 1})};
    };
    ScheduleProblem problem{
        .sram_bytes = 100,
        .operators = {op("norm", 0, 1), op("up", 50, 3), op("down", 40, 7), op("q", 30, 2)},
        .sequence = {0, 3, 1, 2, 0, 3, 1, 2, 0},
        .repeats = {{0, 4, 2}}};
    problem.operators[2].rows[4].exec_bytes = 101;  // not usable
    const SearchSpace space = search_space(problem);
    EXPECT_EQ(space.heavy, 2u);  // above 30 bytes: up and down
    EXPECT_EQ(space.fitting_heavy, 2u);
    EXPECT_EQ(space.rows, 6u);
    EXPECT_EQ(space.fitting, 3u);  // down, norm and q, but not up besides
    EXPECT_EQ(space.operators, 9u);
    problem.sram_bytes = 60;
    EXPECT_EQ(search_space(problem).fitting_heavy, 1u);
}

}  // namespace
}  // namespace tessera::chip
