#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/ops/matmul.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/kernels/parameters.h"

namespace tessera::kernels {
namespace {

/// How `contract_blocks` may multiply 64 rows, rounded to 15 bits, with such weights.
std::vector<plan::Leaf> of_64_rows(ops::WeightFormat weight) {
    const Node node{.name = "y",
                    .op = ops::matmul({}, {Dim(64), 128, 256}, weight, std::nullopt, ops::kInt15Blocks),
                    .operands = {},
                    .results = {},
                    .previous = std::nullopt};
    std::vector<plan::Leaf> leaves = candidates(micro_kernels(), node, {}, {.has_all_blocks = true});
    std::erase_if(leaves, [](const plan::Leaf& leaf) { return leaf.kernel->name != "contract_blocks"; });
    return leaves;
}

/// The rows from which on each of them makes panels.
std::vector<int64_t> first_rows_of_panels(const std::vector<plan::Leaf>& leaves) {
    std::vector<int64_t> rows;
    for (const plan::Leaf& leaf : leaves)
        if (leaf.is_given(parameter::kPanelBlocks))
            rows.push_back(leaf.number(parameter::kPanelBlocks) * leaf.number(parameter::kRows));
    return rows;
}

TEST(ContractBlocks, NumbersThatSpreadInFewInstructionsTakePanelsOfManyRowsOnly) {
    for (const auto weight : {ops::WeightFormat::kQ8_0, ops::WeightFormat::kQ4_0, ops::WeightFormat::kQ4_K}) {
        const auto rows = first_rows_of_panels(of_64_rows(weight));
        ASSERT_FALSE(rows.empty()) << ops::info(weight).name;
        EXPECT_GE(*std::min_element(rows.begin(), rows.end()), 32) << ops::info(weight).name;
    }
    for (const auto weight : {ops::WeightFormat::kQ5_0, ops::WeightFormat::kQ6_K}) {
        const auto rows = first_rows_of_panels(of_64_rows(weight));
        ASSERT_FALSE(rows.empty()) << ops::info(weight).name;
        EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), 16) << ops::info(weight).name;
    }
}

}  // namespace
}  // namespace tessera::kernels
