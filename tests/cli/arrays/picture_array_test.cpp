#include "cli/arrays/picture_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::arrays {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Three pixels wide, two high.
const Picture kColours{.width = 3,
                       .height = 2,
                       .channels = 3,
                       .pixels = {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 255}};
const Picture kGrey{.width = 3, .height = 2, .channels = 1, .pixels = {0, 1, 2, 3, 4, 255}};

std::vector<double> numbers(const PictureArray& array, ElementType element) {
    std::vector<double> all;
    for (size_t i = 0; i < array.elements.size() * 8 / static_cast<size_t>(bits(element)); ++i)
        all.push_back(stored_number(array.elements, element, i));
    return all;
}

PictureArray array_of(const Picture& picture, const std::vector<Dim>& shape, const PixelRanges& ranges = {},
                      ElementType element = ElementType::kU8) {
    return picture_array(picture, ranges, element, shape, "x", "i.png");
}

std::string problem(const Picture& picture, const std::vector<Dim>& shape, const PixelRanges& ranges = {},
                    ElementType element = ElementType::kF32) {
    try {
        (void)array_of(picture, shape, ranges, element);
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "i.png");
        return error.what();
    }
    return "";
}

TEST(PictureArray, ChannelsAreWhereTheInputHasThem) {
    const PictureArray last = array_of(kColours, {Dim(1), Dim(2), Dim(3), Dim(3)});
    EXPECT_THAT(last.shape, ElementsAre(1, 2, 3, 3));
    EXPECT_EQ(numbers(last, ElementType::kU8),
              (std::vector<double>{kColours.pixels.begin(), kColours.pixels.end()}));
    const PictureArray first = array_of(kColours, {Dim("n"), Dim(3), Dim("h"), Dim("w")});
    EXPECT_THAT(first.shape, ElementsAre(1, 3, 2, 3));
    EXPECT_THAT(numbers(first, ElementType::kU8),
                ElementsAre(0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51, 2, 12, 22, 32, 42, 255));
    EXPECT_THAT(array_of(kGrey, {Dim(2), Dim(3)}).shape, ElementsAre(2, 3));
    EXPECT_THAT(array_of(kGrey, {Dim(1), Dim(2), Dim(3)}).shape, ElementsAre(1, 2, 3));
    EXPECT_THAT(array_of(kGrey, {Dim("h", 2), Dim("w"), Dim(1)}).shape, ElementsAre(2, 3, 1));
}

TEST(PictureArray, GreyBecomesThreeChannels) {
    EXPECT_THAT(numbers(array_of(kGrey, {Dim(2), Dim(3), Dim(3)}), ElementType::kU8),
                ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 255, 255, 255));
    const Picture same{.width = 1, .height = 1, .channels = 3, .pixels = {5, 5, 5}};
    EXPECT_THAT(numbers(array_of(same, {Dim(1), Dim(1)}), ElementType::kU8), ElementsAre(5));
    EXPECT_THAT(problem(kColours, {Dim(2), Dim(3)}), HasSubstr("has colours, expected 1 channel"));
}

TEST(PictureArray, OpaqueAlphaIsLeftOut) {
    Picture picture{.width = 1, .height = 1, .channels = 4, .pixels = {1, 2, 3, 255}};
    EXPECT_THAT(numbers(array_of(picture, {Dim(1), Dim(1), Dim(3)}), ElementType::kU8), ElementsAre(1, 2, 3));
    picture.pixels.back() = 254;
    EXPECT_THAT(problem(picture, {Dim(1), Dim(1), Dim(3)}), HasSubstr("is transparent in parts, expected 3"));
    EXPECT_THAT(numbers(array_of(picture, {Dim(4), Dim(1), Dim(1)}), ElementType::kU8),
                ElementsAre(1, 2, 3, 254));
}

TEST(PictureArray, ValuesGoToTheirRanges) {
    const Picture picture{.width = 2, .height = 1, .channels = 3, .pixels = {0, 51, 255, 255, 0, 102}};
    const std::vector<Dim> shape = {Dim(1), Dim(2), Dim(3)};
    const PictureArray as_is = array_of(picture, shape, {}, ElementType::kF32);
    EXPECT_THAT(numbers(as_is, ElementType::kF32), ElementsAre(0, 51, 255, 255, 0, 102));
    const PictureArray one = array_of(picture, shape, {{-1, 1}}, ElementType::kF64);
    EXPECT_THAT(numbers(one, ElementType::kF64),
                Pointwise(DoubleEq(), std::vector<double>{-1, -0.6, 1, 1, -1, -0.2}));
    const PictureArray each = array_of(picture, shape, {{0, 1}, {5, 10}, {1, 0}}, ElementType::kF64);
    EXPECT_THAT(numbers(each, ElementType::kF64),
                Pointwise(DoubleEq(), std::vector<double>{0, 6, 0, 1, 5, 0.6}));
    EXPECT_THAT(problem(picture, shape, {{0, 1}, {0, 1}}), HasSubstr("has 3 channels, and --pixels gives 2"));
    EXPECT_THAT(problem(picture, shape, {{0, 1}}, ElementType::kU8), HasSubstr("--pixels makes fractions"));
    EXPECT_THAT(problem(picture, shape, {}, ElementType::kI8), HasSubstr("which does not hold 255"));
}

TEST(PictureArray, OtherSizesAndTwoWaysAreRefused) {
    EXPECT_THAT(problem(kColours, {Dim(1), Dim(3), Dim(2), Dim(4)}),
                AllOf(HasSubstr("has 3 x 2 pixels of 3 channels, expected an array of [1, 3, 2, 4]"),
                      HasSubstr("scale or cut the image")));
    EXPECT_THAT(problem(kColours, {Dim(2), Dim(3), Dim(2), Dim(3)}), HasSubstr("give a NumPy file"));
    EXPECT_THAT(problem(kColours, {Dim(7), Dim(2), Dim(5)}), HasSubstr("give a NumPy file"));
    EXPECT_THAT(problem(kColours, {Dim(6)}), HasSubstr("give a NumPy file"));
    EXPECT_THAT(problem(kColours, {Dim("n"), Dim("c"), Dim("h"), Dim("w")}),
                HasSubstr("with channels first, and with channels last"));
}

}  // namespace
}  // namespace tessera::arrays
