#include "distribution/form.h"

#include <gtest/gtest.h>

namespace tessera::distribution {
namespace {

using facts::Range;

const Placement kPair{{{2, 0, 0}}};
const Placement kFour{{{2, 0, 0}, {2, 0, 0}}};
const std::vector<int64_t> kSquare = {2, 2};

std::vector<Range> held(const Form& form, const Placement& placement, const std::vector<int64_t>& device) {
    return shard(form, kSquare, placement, device);
}

// Paper 000, figure 4 (a): a tensor of [2, 2] on two devices.
TEST(Forms, OfFigure4OnOneLevel) {
    EXPECT_EQ(held({split(0)}, kPair, {1}), (std::vector<Range>{{1, 2}, {0, 2}}));
    EXPECT_EQ(held({split(1)}, kPair, {0}), (std::vector<Range>{{0, 2}, {0, 1}}));
    EXPECT_EQ(held({broadcast()}, kPair, {1}), (std::vector<Range>{{0, 2}, {0, 2}}));
    EXPECT_EQ(held({partial(Monoid::kSum)}, kPair, {1}), (std::vector<Range>{{0, 2}, {0, 2}}));
}

// Figure 4 (b): the same on two groups of two devices.
TEST(Forms, OfFigure4OnTwoLevels) {
    EXPECT_EQ(held({split(0), split(1)}, kFour, {1, 0}), (std::vector<Range>{{1, 2}, {0, 1}}));
    EXPECT_EQ(held({split(1), broadcast()}, kFour, {1, 0}), (std::vector<Range>{{0, 2}, {1, 2}}));
    EXPECT_EQ(held({broadcast(), split(0)}, kFour, {1, 1}), (std::vector<Range>{{1, 2}, {0, 2}}));
    EXPECT_EQ(held({partial(Monoid::kSum), split(0)}, kFour, {0, 1}), (std::vector<Range>{{1, 2}, {0, 2}}));
    EXPECT_EQ(parts({split(0), split(1)}, kFour), 4);
    EXPECT_EQ(parts({split(0), split(1)}, kFour, 0), 2);
    EXPECT_EQ(parts({split(0), partial(Monoid::kSum)}, kFour), 2);
}

TEST(Forms, NestSplitsOfOneAxis) {
    const Placement placement{{{2, 0, 0}, {3, 0, 0}}};
    const std::vector<int64_t> shape = {12};
    EXPECT_EQ(shard({split(0), split(0)}, shape, placement, std::vector<int64_t>{1, 2}),
              (std::vector<Range>{{10, 12}}));
}

TEST(Forms, ExistIfEveryExtentIsDivided) {
    EXPECT_TRUE(exists({split(0), split(1)}, kSquare, kFour));
    EXPECT_FALSE(exists({split(0), split(0)}, kSquare, kFour));
    EXPECT_FALSE(exists({split(2), broadcast()}, kSquare, kFour));
    EXPECT_TRUE(exists({split(0), split(0)}, std::vector<int64_t>{4, 3}, kFour));
    EXPECT_FALSE(exists({broadcast(), split(1)}, std::vector<int64_t>{4, 3}, kFour));
}

TEST(Forms, PrintAsInFiles) {
    EXPECT_EQ(text(Form{split(1), broadcast(), partial(Monoid::kMax)}), "[S(1), B, P(max)]");
}

}  // namespace
}  // namespace tessera::distribution
