#include "ops/exchange.h"

#include <vector>

#include <gtest/gtest.h>

#include "ops/copy.h"

namespace tessera::ops {
namespace {

TEST(Exchange, PutsThePartAtThePlaceOfEveryRank) {
    const std::vector<DimSymbol> symbols = {{"T", 1, 512, 1}};
    TensorType type;
    type.element = ElementType::kBF16;
    type.shape = {Dim("T"), Dim(64)};
    const DefinitionPtr definition = exchange(symbols, type, 3);
    EXPECT_TRUE(is_exchange(*definition));
    EXPECT_EQ(print(*definition),
              "op exchange_between_ranks(r: 3, x0: T, x1: 64)\ndim T in 1..512\n"
              "in X bf16[x0, x1]\nout Z bf16[r, x0, x1] = X * 1\n");
    EXPECT_FALSE(is_exchange(*copy(symbols, type)));
}

}  // namespace
}  // namespace tessera::ops
