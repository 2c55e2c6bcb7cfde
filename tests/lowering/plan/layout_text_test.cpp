#include "lowering/plan/layout_text.h"

#include <random>

#include <gtest/gtest.h>

#include "support/error.h"

namespace tessera::plan {
namespace {

std::string error_of_layout(const std::string& text) {
    try {
        (void)parse_layout(text, "plan.toml:3");
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(LayoutText, EveryFormIsRead) {
    EXPECT_EQ(parse_layout("row-major", ""), Layout{});
    EXPECT_EQ(parse_layout("order [1, 0]", ""), (Layout{{1, 0}, {}}));
    EXPECT_EQ(parse_layout("lanes <1:16, 0:4, 1:2>", ""), (Layout{{}, {{1, 16}, {0, 4}, {1, 2}}}));
    EXPECT_EQ(parse_layout(" order [ 2,0,1 ]lanes < 1:16 > ", ""), (Layout{{2, 0, 1}, {{1, 16}}}));
}

TEST(LayoutText, WhatIsNoLayoutIsNamed) {
    EXPECT_EQ(error_of_layout(""), "plan.toml:3: ends, expected row-major, order [..] or lanes <..>");
    EXPECT_EQ(error_of_layout("column-major"),
              "plan.toml:3: found `column-major`, expected row-major, order [..] or lanes <..>");
    EXPECT_EQ(error_of_layout("order []"), "plan.toml:3: found `]`, expected an axis");
    EXPECT_EQ(error_of_layout("order [0, -1]"), "plan.toml:3: found `-1]`, expected an axis");
    EXPECT_EQ(error_of_layout("order [99999999999]"), "plan.toml:3: axis 99999999999 is more than 63");
    EXPECT_EQ(error_of_layout("lanes <1>"), "plan.toml:3: found `>`, expected `:`");
    EXPECT_EQ(error_of_layout("lanes <1:5000>"), "plan.toml:3: a lane has 5000 elements, expected 1 to 4096");
    EXPECT_EQ(error_of_layout("lanes <1:2"), "plan.toml:3: ends, expected `>`");
    EXPECT_EQ(error_of_layout("row-major x"), "plan.toml:3: found `x`, expected the end of the line");
    EXPECT_EQ(error_of_layout("lanes <1:2> order [0]"),
              "plan.toml:3: found `order [0]`, expected the end of the line");
}

TEST(LayoutText, WhatIsPrintedParsesBack) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 300; ++i) {
        Layout layout;
        for (uint64_t axes = random() % 4; axes > 0; --axes)
            layout.order.push_back(static_cast<int>(random() % 8));
        for (uint64_t lanes = random() % 3; lanes > 0; --lanes)
            layout.lanes.push_back({static_cast<int>(random() % 8), static_cast<int64_t>(2 + random() % 31)});
        EXPECT_EQ(parse_layout(print(layout), ""), layout) << print(layout);
    }
}

}  // namespace
}  // namespace tessera::plan
