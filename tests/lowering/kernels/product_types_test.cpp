#include "lowering/kernels/product_types.h"

#include <gtest/gtest.h>

#include "ir/ops/matmul.h"
#include "lowering/kernels/leaf_of.h"

namespace tessera::kernels {
namespace {

TEST(ProductTypes, AreThoseOfTheFormat) {
    const plan::Leaf leaf = testing::leaf_of("y[contract k=k m=t n=n]");
    const auto types = [&](ops::WeightFormat format, ops::Activation input) {
        return product_types(*ops::matmul({}, {Dim(1), 32, 1024}, format, std::nullopt, input), leaf);
    };
    EXPECT_EQ(types(ops::WeightFormat::kBF16, {}),
              (plan::KernelTypes{{"A", "f32"}, {"B", "bf16"}, {"C", "f32"}}));
    EXPECT_EQ(types(ops::WeightFormat::kQ4_K, {}),
              (plan::KernelTypes{{"A", "f32"}, {"B", "q4_k"}, {"C", "f32"}}));
    EXPECT_EQ(types(ops::WeightFormat::kQ6_K, ops::kInt15Blocks),
              (plan::KernelTypes{{"A", "i15"}, {"B", "q6_k"}, {"C", "f32"}}));
    EXPECT_EQ(types(ops::WeightFormat::kQ6_K, ops::kInt13Blocks),
              (plan::KernelTypes{{"A", "i13"}, {"B", "q6_k"}, {"C", "f32"}}));
    EXPECT_EQ(types(ops::WeightFormat::kQ4_0, ops::kInt8Blocks),
              (plan::KernelTypes{{"A", "i8"}, {"B", "q4_0"}, {"C", "f32"}}));
}

}  // namespace
}  // namespace tessera::kernels
