#include "ir/ops/weight_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/ops/matmul.h"
#include "ir/ops/rows.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

using ::testing::HasSubstr;

constexpr WeightFormat kAll[] = {
    WeightFormat::kF32,  WeightFormat::kF16,    WeightFormat::kBF16,  WeightFormat::kQ8_0,
    WeightFormat::kQ4_0, WeightFormat::kQ4_1,   WeightFormat::kQ5_0,  WeightFormat::kQ5_1,
    WeightFormat::kQ4_K, WeightFormat::kQ5_K,   WeightFormat::kQ6_K,  WeightFormat::kQ2_K,
    WeightFormat::kQ3_K, WeightFormat::kIQ4_NL, WeightFormat::kMXFP4, WeightFormat::kInt4};

TEST(WeightFormat, NamesReadBack) {
    for (const WeightFormat format : kAll) EXPECT_EQ(weight_format_of(info(format).name), format);
    EXPECT_EQ(weight_format_of("IQ2_S"), std::nullopt);
    EXPECT_EQ(weight_format_of(ElementType::kBF16), WeightFormat::kBF16);
    EXPECT_EQ(weight_format_of(ElementType::kI8), std::nullopt);
    EXPECT_EQ(element_of(WeightFormat::kF16), ElementType::kF16);
    EXPECT_EQ(element_of(WeightFormat::kQ8_0), std::nullopt);
    EXPECT_EQ(
        known_weight_formats(),
        "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, MXFP4, INT4");
}

TEST(WeightFormat, EveryFormatDefinesProductAndEmbedding) {
    for (const WeightFormat format : kAll) {
        SCOPED_TRACE(info(format).name);
        const size_t operands = info(format).operands.size();
        const auto product = matmul({}, {Dim(3), 5, 512}, format);
        verify(*product, "matmul");
        EXPECT_EQ(product->tensors.size(), 1 + operands + 1);
        const auto rows = embedding({}, Dim(3), 7, 512, format);
        verify(*rows, "embedding");
        EXPECT_EQ(rows->tensors.size(), 1 + operands + 1);
        for (size_t i = 0; i < operands; ++i) {
            const WeightOperand& operand = info(format).operands[i];
            EXPECT_EQ(product->tensors[1 + i].type, operand.type);
            EXPECT_EQ(bound_extents(*rows, {}, "e").shapes[1 + i],
                      (std::vector<int64_t>{7, 512 / operand.block}));
        }
    }
}

TEST(WeightFormat, DefinitionsReadAsDocumented) {
    EXPECT_EQ(print(*matmul({}, {Dim(2), 3, 64}, WeightFormat::kQ4_0)), R"(op matmul(t: 2, n: 3, k*: 64)
in X f32[t, k]
in q u4[n, k]
in d f16[n, k div 32]
out Y f32[t, n] = sum(X * ((q - 8) * d))
)");
    EXPECT_EQ(print(*embedding({}, Dim(2), 9, 256, WeightFormat::kQ4_K)), R"(op embedding(t: 2, k: 256)
index id i32[t]
in q u4[id[t], k] of [9, 256]
in s i8[id[t], k div 32] of [9, 8]
in m u8[id[t], k div 32] of [9, 8]
in d f16[id[t], k div 256] of [9, 1]
in dmin f16[id[t], k div 256] of [9, 1]
out Y f32[t, k] = q * (s * d) - m * dmin
)");
    EXPECT_EQ(
        print(*matmul({}, {Dim(2), 3, 64}, WeightFormat::kBF16, ElementType::kF32, {ElementType::kBF16})),
        R"(op matmul(t: 2, n: 3, k*: 64)
in X bf16[t, k]
in W bf16[n, k]
in bias f32[n]
out Y f32[t, n] = sum(X * W) + bias
)");
}

TEST(WeightFormat, BlocksOfActivationsBringTheirScales) {
    EXPECT_EQ(print(*matmul({}, {Dim(2), 3, 64}, WeightFormat::kQ8_0, std::nullopt, kInt8Blocks)),
              R"(op matmul(t: 2, n: 3, k*: 64)
in X i8[t, k]
in XS f32[t, k div 32]
in q i8[n, k]
in d f16[n, k div 32]
out Y f32[t, n] = sum(X * XS * (q * d))
)");
}

TEST(WeightFormat, RowsThatBlocksDoNotDivideAreRefused) {
    try {
        (void)matmul({}, {Dim(2), 3, 288}, WeightFormat::kQ6_K);
        FAIL() << "was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("has rows of 288 elements, expected a multiple of the 256 of one "
                                            "Q6_K block"));
    }
}

}  // namespace
}  // namespace tessera::ops
