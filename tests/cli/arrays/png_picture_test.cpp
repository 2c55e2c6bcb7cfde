#include "cli/arrays/png_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arrays/npz_bytes.h"
#include "cli/arrays/png_bytes.h"
#include "support/error.h"

namespace tessera::arrays {
namespace {

using test::as_file;
using test::png_bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Picture read(const std::string& bytes) {
    EXPECT_TRUE(is_png(as_file(bytes)));
    return read_png(as_file(bytes), 1000, "i.png");
}

std::string problem(const std::string& bytes, int64_t most_pixels = 1000) {
    try {
        (void)read_png(as_file(bytes), most_pixels, "i.png");
    } catch (const Error& error) {
        EXPECT_EQ(error.where, "i.png");
        return error.what();
    }
    return "";
}

TEST(PngPicture, KeepsTheNumbersOfEveryKind) {
    const Picture colours = read(png_bytes(2, 1, PNG_FORMAT_RGB, {1, 2, 3, 250, 251, 252}));
    EXPECT_EQ(colours.width, 2);
    EXPECT_EQ(colours.height, 1);
    EXPECT_EQ(colours.channels, 3);
    EXPECT_THAT(colours.pixels, ElementsAre(1, 2, 3, 250, 251, 252));
    const Picture grey = read(png_bytes(1, 2, PNG_FORMAT_GRAY, {7, 200}));
    EXPECT_EQ(grey.channels, 1);
    EXPECT_THAT(grey.pixels, ElementsAre(7, 200));
    const Picture clear = read(png_bytes(1, 1, PNG_FORMAT_RGBA, {9, 8, 7, 6}));
    EXPECT_EQ(clear.channels, 4);
    EXPECT_THAT(clear.pixels, ElementsAre(9, 8, 7, 6));
}

// Two colours are stored as one bit a pixel.
TEST(PngPicture, PalettesBecomeColours) {
    const Picture picture =
        read(png_bytes(3, 1, PNG_FORMAT_RGB_COLORMAP, {1, 0, 1}, {10, 20, 30, 40, 50, 60}));
    EXPECT_EQ(picture.channels, 3);
    EXPECT_THAT(picture.pixels, ElementsAre(40, 50, 60, 10, 20, 30, 40, 50, 60));
}

TEST(PngPicture, RefusesWhatIsDamagedOrLarge) {
    const std::string whole = png_bytes(2, 2, PNG_FORMAT_GRAY, {1, 2, 3, 4});
    for (size_t size = 8; size < whole.size(); ++size)
        EXPECT_THAT(problem(whole.substr(0, size)), HasSubstr("is a damaged PNG image: ")) << size;
    std::string changed = whole;
    changed[whole.size() - 20] = static_cast<char>(changed[whole.size() - 20] ^ 1);
    EXPECT_THAT(problem(changed), HasSubstr("is a damaged PNG image: "));
    EXPECT_THAT(problem(whole, 3), HasSubstr("has 2 x 2 pixels, expected at most 3 in all"));
    EXPECT_FALSE(is_png(as_file("no image, but text")));
    EXPECT_FALSE(is_png({}));
}

TEST(PngPicture, Refuses16Bits) {
    const std::vector<png_byte> samples(2);
    EXPECT_THAT(problem(png_bytes(1, 1, PNG_FORMAT_LINEAR_Y, samples)), HasSubstr("has 16 bits a channel"));
}

}  // namespace
}  // namespace tessera::arrays
