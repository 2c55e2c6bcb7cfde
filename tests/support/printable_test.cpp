#include "support/printable.h"

#include <string>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera {
namespace {

TEST(Printable, ShowsWhatATerminalWouldObey) {
    EXPECT_EQ(printable("plain text, ü 漢 😀"), "plain text, ü 漢 😀");
    EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\x09c\\x0dd");
    EXPECT_EQ(printable(std::string("\x1b[2J\x7f\0", 6)), "\\x1b[2J\\x7f\\x00");
    EXPECT_EQ(printable("\u009b2J"), "\\xc2\\x9b2J") << "C1";
    EXPECT_EQ(printable_lines("a\n\tb\x1b"), "a\n\tb\\x1b");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
    EXPECT_EQ(printable("a\xff"
                        "b\xc3"),
              "a\\xffb\\xc3");
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than needed";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
    EXPECT_EQ(printable("\xf0\x9f\x98"), "\\xf0\\x9f\\x98") << "cut off";
}

TEST(ValidUtf8, ReplacesWhatIsNone) {
    EXPECT_EQ(valid_utf8("ü\n\x1b"), "ü\n\x1b");
    EXPECT_EQ(valid_utf8("a\xff\xc3"
                         "b"),
              "a\uFFFD\uFFFD"
              "b");
}

TEST(Printable, ErrorsShowNamesSo) {
    EXPECT_STREQ(Error("a\nb", "\x1b[2J", "is\x07 wrong:\n  line", "say \r").what(),
                 "a\\nb: `\\x1b[2J`: is\\x07 wrong:\n  line (say \\x0d)");
}

}  // namespace
}  // namespace tessera
