#include "ir/facts/iteration_cases.h"

#include <gtest/gtest.h>

namespace tessera::facts {
namespace {

std::vector<int64_t> sizes_of_cases(const std::string& text) {
    const BoundDefinition bound = bind_test(parse_definition_file(text, "t.op"), "t.op");
    std::vector<int64_t> sizes;
    for (const auto& part : iteration_cases(bound, bound.definition.body))
        sizes.push_back(part->executed.count());
    return sizes;
}

TEST(IterationCases, AreAllIterationsWhereNothingLeaves) {
    EXPECT_EQ(sizes_of_cases("op t(m: 3, n: 4)\nin X f32[m, n]\nout Y f32[m, n] = X\ntest\n"),
              std::vector<int64_t>{12});
}

TEST(IterationCases, DivideByEachRead) {
    EXPECT_EQ(sizes_of_cases("op t(m: 5, n: 4)\nin X f32[m], W f32[n] of [3]\n"
                             "out Y f32[m, n] = X[m + 2] * W + X\ntest\n"),
              (std::vector<int64_t>{9, 3, 6, 2}));
}

TEST(IterationCases, KeepThePredicate) {
    EXPECT_EQ(sizes_of_cases("op t(m: 5)\nin X f32[m]\nout Y f32[m] = X[m + 2]\nwhere m < 4\ntest\n"),
              (std::vector<int64_t>{3, 1}));
    EXPECT_TRUE(
        sizes_of_cases("op t(m: 5)\nin X f32[m]\nout Y f32[m] = X[m + 2]\nwhere m > 9\ntest\n").empty());
}

TEST(IterationCases, DivideByIteratorsThatStandAsNumbers) {
    EXPECT_EQ(sizes_of_cases("op t(m: 5)\nin X f32[m]\nout Y f32[m] = X * m\ntest\n"),
              (std::vector<int64_t>{4, 1}));
}

// An index operand is read within its shape only where the predicate holds.
TEST(IterationCases, AskIndexOperandsWithinTheirShapes) {
    EXPECT_EQ(sizes_of_cases("op t(m: 5)\nindex id i32[m]\nin X f32[id[m]] of [2]\n"
                             "out Y f32[m] = X[id[m]] + X[id[m] + 1]\ntest\nfill id[i] = i\n"),
              (std::vector<int64_t>{1, 1, 3}));
}

// Contents of operands decide the predicate: which iterations there are is not known.
TEST(IterationCases, DivideNothingThatIsNotKnown) {
    const BoundDefinition bound = for_all_contents(
        bind_test(parse_definition_file("op t(m: 5)\nin X f32[m], W f32[m]\nout Y f32[m] = X[m + 2]\n"
                                        "where W > 0\ntest\n",
                                        "t.op"),
                  "t.op"));
    EXPECT_EQ(iteration_cases(bound, bound.definition.body).size(), 1u);
}

}  // namespace
}  // namespace tessera::facts
