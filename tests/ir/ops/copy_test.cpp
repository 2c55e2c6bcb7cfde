#include "ir/ops/copy.h"

#include <vector>

#include <gtest/gtest.h>

namespace tessera::ops {
namespace {

TEST(Copy, MeetsNoSymbolOfTheGraph) {
    const std::vector<DimSymbol> symbols = {{"x0", 1, 8}, {"X", 2, 6, 2}, {"Y", 1, 3}, {"copy", 1, 3}};
    TensorType type;
    type.shape = {Dim("x0"), Dim("X", 4), Dim("copy")};
    for (const DefinitionPtr& made : {copy(symbols, type), overwrite(symbols, type)}) {
        verify(*made, "made");
        ASSERT_EQ(made->dims.size(), 3U);
        EXPECT_EQ(made->dims[1].multiple_of, 2);
        EXPECT_EQ(bound_extents(*made, {5, 4, 3}, "made").shapes.back(), (std::vector<int64_t>{5, 16, 3}));
    }
    EXPECT_TRUE(is_copy(*copy(symbols, type)));
    EXPECT_FALSE(is_copy(*overwrite(symbols, type)));
}

TEST(Copy, IsNoPaddingAndNoSlice) {
    const auto is = [](const char* shape) {
        return is_copy(parse_definition(
            std::string("op q(i: 3, j: 4)\nin X f32[i, j]") + shape + "\nout Y f32[i, j] = X\n", "q"));
    };
    EXPECT_TRUE(is(""));
    EXPECT_TRUE(is(" of [3, 4]"));
    EXPECT_FALSE(is(" of [2, 4]"));
    EXPECT_FALSE(is(" of [3, 5]"));
}

}  // namespace
}  // namespace tessera::ops
