#include "ir/ops/exchange.h"

#include <vector>

#include <gtest/gtest.h>

#include "ir/ops/copy.h"

namespace tessera::ops {
namespace {

TEST(Exchange, PutsThePartAtThePlaceOfItsRank) {
    const std::vector<DimSymbol> symbols = {{"T", 1, 512, 1}};
    TensorType type;
    type.element = ElementType::kBF16;
    type.shape = {Dim("T"), Dim(64)};
    const DefinitionPtr definition = exchange(symbols, type, 3);
    EXPECT_TRUE(is_exchange(*definition));
    EXPECT_EQ(print(*definition),
              "op exchange_between_ranks(r: 1, x0: T, x1: 64)\ndim T in 1..512\n"
              "in X bf16[x0, x1] of [T, 64]\nout Z bf16[r, x0, x1] of [3, T, 64] = X * 1\n");
    EXPECT_FALSE(is_exchange(*copy(symbols, type)));
}

TEST(Exchange, PutsForEveryRankWhatItTakes) {
    TensorType type;
    type.shape = {Dim(4), Dim(12)};
    const DefinitionPtr definition = transposed_exchange({}, type, 1, 3);
    EXPECT_EQ(exchange_call(*definition), (ExchangeCall{ExchangeCall::Kind::kTranspose}));
    EXPECT_EQ(print(*definition),
              "op transpose_between_ranks(r: 3, x0: 4, x1: 4)\n"
              "in X f32[x0, r * 4 + x1] of [4, 12]\nout Z f32[r, x0, x1] of [3, 4, 4] = X * 1\n");
}

TEST(Exchange, PutsAPartAtItsPlaceOfTheWhole) {
    const std::vector<DimSymbol> symbols = {{"T", 1, 512, 1}};
    TensorType type;
    type.shape = {Dim("T"), Dim(256), Dim(2)};
    const std::vector<int64_t> starts = {0, 320, 576};
    const DefinitionPtr definition = placed_exchange(symbols, type, 1, starts);
    EXPECT_TRUE(is_exchange(*definition));
    EXPECT_EQ(exchange_call(*definition), (ExchangeCall{ExchangeCall::Kind::kPlace, starts}));
    EXPECT_EQ(print(*definition),
              "op place_between_ranks_0_320_576(x0: T, x1: 256, x2: 2)\ndim T in 1..512\n"
              "in X f32[x0, x1, x2] of [T, 256, 2]\nout Z f32[x0, x1, x2] of [T, 576, 2] = X * 1\n");
}

}  // namespace
}  // namespace tessera::ops
