#include "lowering/kernels/candidates.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/ops/elementwise.h"
#include "ir/ops/matmul.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"
#include "machine/machine_text.h"

namespace tessera::kernels {
namespace {

constexpr std::array kOnlyLanes = {parameter::kLanes};

std::string anything(const Definition&) {
    return {};
}

/// Offers these lanes, in two turns, the later one first, each by two readings.
template <int64_t... Lanes>
void offer(const CandidateScope& scope, std::vector<Candidate>& out) {
    for (const int64_t lanes : {Lanes...})
        for (const int turn : {1, 0})
            for (const int reading : {1, 0})
                out.push_back({scope.leaf().set(parameter::kLanes, lanes), lanes, turn, reading});
}

constexpr plan::MicroKernel kFirst{
    .name = "first", .parameters = kOnlyLanes, .why_not = anything, .candidates = offer<4, 8>};
constexpr plan::MicroKernel kSecond{
    .name = "second", .parameters = kOnlyLanes, .why_not = anything, .candidates = offer<8>};
constexpr plan::MicroKernel kCombining{
    .name = "combining", .combines_parts = true, .why_not = anything, .candidates = offer<64>};

Node node_of(DefinitionPtr definition) {
    return {
        .name = "y", .op = std::move(definition), .operands = {}, .results = {}, .previous = std::nullopt};
}

TEST(Candidates, MoreLanesComeFirstThenTheListAndEachLeafOnce) {
    const std::array kernels = {&kFirst, &kSecond, &kCombining};
    std::vector<std::string> found;
    for (const plan::Leaf& leaf : candidates(kernels, node_of(ops::add({}, Dim(1), 64)), {}, {}))
        found.push_back(plan::print(leaf));
    EXPECT_EQ(found, (std::vector<std::string>{"y[first lanes=8]", "y[second lanes=8]", "y[first lanes=4]"}));
}

TEST(Candidates, TheLastOneIsPlainScalars) {
    for (const DefinitionPtr& d :
         {ops::add({}, Dim(1), 64), ops::matmul({}, {Dim(4), 64, 64}, ops::WeightFormat::kQ8_0)}) {
        const std::vector<plan::Leaf> found = candidates(micro_kernels(), node_of(d), {}, {});
        EXPECT_EQ(found.back(), plan::Leaf("y", plain_micro_kernel()));
        for (const plan::Leaf& leaf : found)
            EXPECT_NO_THROW(plan::check_parameters(*d, leaf)) << plan::print(leaf);
    }
}

TEST(Candidates, MatrixUnitsComeBeforeVectorsReadingByReading) {
    const DefinitionPtr product = ops::matmul({}, {Dim(64), 64, 64}, ops::WeightFormat::kBF16, std::nullopt,
                                              ops::Activation{ElementType::kBF16});
    const std::vector<machine::ComputeUnit> units =
        machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/amx.toml").units;
    const std::vector<plan::Leaf> found = candidates(micro_kernels(), node_of(product), {}, {.units = units});
    ASSERT_GT(found.size(), 1U);
    EXPECT_EQ(found[0].kernel->name, "contract_tiles");
    EXPECT_EQ(found[1].kernel->name, "contract");
    EXPECT_EQ(found[1].iterator(parameter::kColumns), found[0].iterator(parameter::kColumns));
}

}  // namespace
}  // namespace tessera::kernels
