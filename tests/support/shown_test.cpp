#include "support/shown.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Shown, IsOneShortLine) {
    EXPECT_EQ(shown("plain text, caf\u00e9"), "plain text, caf\u00e9");
    EXPECT_EQ(shown("a\x1b[2J\nb\x7f"), R"(a\x1b[2J\nb\x7f)");
    EXPECT_EQ(shown("\xfe"), R"(\xfe)") << "JSON cannot hold it";
    EXPECT_EQ(shown(std::string(60, 'x')), std::string(60, 'x'));
    EXPECT_EQ(shown(std::string(61, 'x')), std::string(60, 'x') + "...");
    EXPECT_EQ(shown(std::string(59, 'x') + "\u00e9 and more"), std::string(59, 'x') + "...")
        << "whole characters";
}

}  // namespace
}  // namespace tessera
