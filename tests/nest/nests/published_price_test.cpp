#include "nest/nests/published_price.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tessera::nests {
namespace {

using machine::PublishedModel;
using machine::PublishedPrice;

constexpr const char* kOperators = R"(op c(m: 32, n: 24, k*: 8)
in  A f32[m, k], B f32[k, n]
out C f32[m, n] = sum(A * B)
op e(m: 32, h: 16, n*: 24)
in  C f32[m, n], D f32[n, h]
out E f32[m, h] = sum(C * D)
)";
// A, B and D are read and E is written.
constexpr int64_t kLeastBytes = int64_t{4} * (32 * 8 + 8 * 24 + 24 * 16 + 32 * 16);
constexpr int64_t kLeastFlops = int64_t{2} * 32 * 24 * 8 + int64_t{2} * 32 * 16 * 24;

TEST(PublishedPrices, LeastWorkCountsEverythingOnce) {
    const Kernel kernel = make_kernel(read_kernel_file(kOperators, "test"));
    EXPECT_EQ(least_work(kernel), (LeastWork{kLeastFlops, kLeastBytes}));
    EXPECT_EQ(least_work(kernel, {"C"}), (LeastWork{kLeastFlops, kLeastBytes + 4 * 32 * 24}));
}

TEST(PublishedPrices, OfOneLevel) {
    const KernelFile file = read_kernel_file(std::string(kOperators) +
                                                 "machine bandwidth 1e9 peak 1e10 units 3\nnest\n"
                                                 "m:8@unit { n:8 { c e } }\n",
                                             "test");
    const Kernel kernel = make_kernel(file);
    const NestFacts facts = std::get<NestFacts>(derive_facts(file));
    const LeastWork least = least_work(kernel);
    const auto price = [&](PublishedModel model) {
        return price_published(model, facts, least, *file.machine);
    };
    const double memory = static_cast<double>(facts.bytes) / 1e9;
    const double compute = static_cast<double>(facts.flops) / 1e10;
    EXPECT_DOUBLE_EQ(price(PublishedModel::kMcfuser).seconds, (memory + compute) * 7 / 4);
    EXPECT_EQ(price(PublishedModel::kMcfuser).seconds, facts.model->estimate);
    EXPECT_DOUBLE_EQ(price(PublishedModel::kNncase).seconds, std::max(memory, compute));
    EXPECT_DOUBLE_EQ(
        price(PublishedModel::kRoofline).seconds,
        std::max(static_cast<double>(kLeastBytes) / 1e9, static_cast<double>(kLeastFlops) / 1e10));
}

/// The level next to memory is each unit's own, so that two of them have twice its bandwidth.
TEST(PublishedPrices, OfSeveralLevels) {
    const KernelFile file = read_kernel_file(
        std::string(kOperators) +
            "level memory\nlevel L2 bandwidth 1e9 per unit\nlevel L1 bandwidth 8e9 per unit\n"
            "peak 5e9 units 2\nnest\nm:16@unit { load D @L2; n:8 { c e } }\n",
        "test");
    const Kernel kernel = make_kernel(file);
    const LevelFacts facts = std::get<LevelFacts>(derive_level_facts(file));
    const LeastWork least = least_work(kernel);
    const auto price = [&](PublishedModel model) {
        return price_published(model, facts, least, *file.levels);
    };
    EXPECT_EQ(price(PublishedModel::kNncase).seconds, facts.price.cost(LevelCost::kNncase));
    const LevelUse& crossed = facts.price.levels[1];
    const PublishedPrice mcfuser = price(PublishedModel::kMcfuser);
    EXPECT_DOUBLE_EQ(mcfuser.memory, static_cast<double>(crossed.bytes_in + crossed.bytes_out) / 2e9);
    EXPECT_DOUBLE_EQ(mcfuser.compute, static_cast<double>(facts.flops) / 1e10);
    EXPECT_EQ(mcfuser.alpha, 2);
    EXPECT_DOUBLE_EQ(price(PublishedModel::kRoofline).memory, static_cast<double>(kLeastBytes) / 2e9);
    // No nest moves less, or computes less, than the roofline counts.
    EXPECT_LE(price(PublishedModel::kRoofline).memory, mcfuser.memory);
    EXPECT_LE(price(PublishedModel::kRoofline).compute, mcfuser.compute);
}

}  // namespace
}  // namespace tessera::nests
