#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lowering/kernels/one_operator.h"

namespace tessera::kernels {
namespace {

TEST(ContractTiles, MultiplyFactorsOfBf16) {
    const auto with_types = [](const char* a, const char* b) {
        return definition(fmt::format(
            "mm(m: 4, n: 5, k*: 6)\nin A {}[m, k], B {}[n, k]\nout C f32[m, n] = sum(A * B)\n", a, b));
    };
    EXPECT_EQ(why_not("contract_tiles", with_types("bf16", "bf16")), "");
    const std::string types = "its body is no product of two operands of bf16";
    EXPECT_EQ(why_not("contract_tiles", with_types("f32", "bf16")), types);
    EXPECT_EQ(why_not("contract_tiles", with_types("f16", "f16")), types);
    EXPECT_EQ(why_not("contract_tiles",
                      definition("mm(m: 4, n: 5, k*: 6)\nin A bf16[m, k], B bf16[n, k], S f32[n]\n"
                                 "out C f32[m, n] = sum(A * (B * S))\n")),
              types);
    EXPECT_EQ(why_not("contract_tiles", definition("map(n: 5)\nin X f32[n]\nout Y f32[n] = exp(X)\n")),
              "its monoid is not sum");
}

}  // namespace
}  // namespace tessera::kernels
