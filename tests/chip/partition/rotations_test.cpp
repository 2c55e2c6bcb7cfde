#include "chip/partition/rotations.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/partition/small_chips.h"
#include "chip/partition/workload.h"

namespace tessera::partition {
namespace {

using ::testing::IsEmpty;

/// A grid of tiles: rows share one operand, columns another.
std::vector<std::vector<TileGroup>> rows_and_columns(size_t rows, size_t columns) {
    std::vector<TileGroup> of_rows(rows), of_columns(columns);
    for (size_t r = 0; r < rows; ++r)
        for (size_t c = 0; c < columns; ++c) {
            of_rows[r].push_back(r * columns + c);
            of_columns[c].push_back(r * columns + c);
        }
    return {of_rows, of_columns};
}

TEST(Rotations, OfTwoOperandsBeginSkewed) {
    // Cannon's algorithm: the tile at row r, column c begins with part r + c of both.
    const auto parts = first_parts(rows_and_columns(3, 3), 9, 3);
    ASSERT_TRUE(parts);
    for (size_t r = 0; r < 3; ++r)
        for (size_t c = 0; c < 3; ++c) EXPECT_EQ((*parts)[r * 3 + c], static_cast<int64_t>((r + c) % 3));
}

TEST(Rotations, GiveEveryTileOfARingAnotherPart) {
    const auto groups = rows_and_columns(4, 6);
    const auto parts = first_parts(groups, 24, 2);
    ASSERT_TRUE(parts);
    for (const auto& of_tensor : groups)
        for (const TileGroup& group : of_tensor)
            for (size_t j = 0; j < group.size(); j += 2)
                EXPECT_NE((*parts)[group[j]], (*parts)[group[j + 1]]);
}

TEST(Rotations, DoNotFitWhereATileWouldBeginWithTwoParts) {
    EXPECT_FALSE(first_parts({{{0, 1, 2, 3}}, {{0, 2, 1, 3}}}, 4, 4));
    EXPECT_FALSE(first_parts({{{0, 1, 2}}}, 3, 2));  // a ring that is not full
}

/// The faults of all rotations of an operator on a small chip.
std::set<std::string> faults_of(const std::string& op) {
    Graph graph{.name = "g"};
    const chip::ChipDescription chip = small_chip({.cores = 8, .sram_bytes = 400'000});
    const facts::BoundDefinition bound =
        facts::bind_unfilled(parse_definition(op, "drawn.op"), {}, "drawn.op");
    const WorkOperator work{"op", bound, std::vector<Place>(bound.definition.tensors.size(), Place::kHbm),
                            std::vector<int>(bound.definition.tensors.size(), 0)};
    std::set<std::string> faults;
    PartitionPlans(work, chip).for_each([&](const ExecutePlan& plan) {
        if (std::string fault = rotation_fault(bound, plan, chip); !fault.empty()) faults.insert(fault);
    });
    return faults;
}

TEST(Rotations, OfProductsHaveNoFault) {
    EXPECT_THAT(faults_of("op product(m: 8, n: 8, k*: 8)\nin X f32[m, k]\nin W f32[n, k]\n"
                          "out Y f32[m, n] = sum(X * W)\n"),
                IsEmpty());
}

TEST(Rotations, OfWhatCompletesSumsComeTooLate) {
    EXPECT_THAT(faults_of("op product(m: 8, n: 8, k*: 8)\nin X f32[m, k]\nin W f32[n, k]\nin B f32[n]\n"
                          "out Y f32[m, n] = sum(X * W) + B\n"),
                ::testing::Contains("rotates B, which completes sums behind the last step"));
}

}  // namespace
}  // namespace tessera::partition
