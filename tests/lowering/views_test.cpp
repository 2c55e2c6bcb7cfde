#include "lowering/views.h"

#include <gtest/gtest.h>

namespace tessera::lowering {
namespace {

Definition definition(const std::string& text) {
    return parse_definition(text, "test");
}

TEST(Views, ARenamedTensorIsOne) {
    EXPECT_TRUE(is_view(definition("op turn(i: 4, j: 6)\nin X f32[j, i]\nout Y f32[i, j] = X\n")));
    EXPECT_TRUE(is_view(definition("op cut(i: 4)\nin X f32[i + 1] of [6]\nout Y f32[i] of [4] = X\n")));
}

/// An element that no iteration writes is 0: no element of the operand.
TEST(Views, AResultWithElementsThatNothingWritesIsNone) {
    EXPECT_FALSE(is_view(definition("op pad(i: 4)\nin X f32[i] of [4]\nout Y f32[i] of [5] = X\n")));
    EXPECT_FALSE(is_view(definition("op pad(i: 4)\nin X f32[i] of [6]\nout Y f32[i] of [6] = X\n")));
    EXPECT_FALSE(
        may_be_in_place(definition("op pad(i: 4)\nin X f32[i] of [4]\nout Y f32[i] of [5] = X\n"), 0));
}

}  // namespace
}  // namespace tessera::lowering
