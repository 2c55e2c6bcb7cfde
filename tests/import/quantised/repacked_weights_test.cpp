#include "import/quantised/repacked_weights.h"

#include <cmath>
#include <map>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/constant_data.h"
#include "import/quantised/memory_weights.h"
#include "import/quantised/operand_tensors.h"
#include "import/quantised/plain_blocks.h"
#include "ir/interpreter.h"
#include "ir/ops/rows.h"

// The values of each format's expression, evaluated by the interpreter on the repacked operands, against
// values that plain loops read from ggml's block structures.

namespace tessera::import {
namespace {

using ::testing::ElementsAre;
using testing::Halves;

constexpr int64_t kRows = 3, kWidth = 768;

class Formats : public ::testing::TestWithParam<std::string> {
protected:
    ops::WeightFormat format() const { return ops::weight_format_of(GetParam()).value(); }

    RepackedWeights repacked(const std::string& blocks) const {
        const auto source = std::make_shared<testing::MemoryWeights>();
        source->add("w", GetParam(), {kRows, kWidth}, blocks);
        return RepackedWeights(source);
    }

    /// The rows 0, 1, .. of the weight.
    std::vector<double> embedded(const WeightSource& weights) const {
        const auto op = ops::embedding({}, Dim(kRows), kRows, kWidth, format());
        verify(*op, op->name);
        std::vector<TensorData> operands = {{{kRows}, {0, 1, 2}}};
        for (const ops::WeightOperand& operand : ops::info(format()).operands) {
            Value value{.name = operand_source("w", operand), .kind = ValueKind::kConstant};
            const StoredTensor& stored = *weights.find(value.name);
            value.type.element = stored.element.value();
            value.type.shape.assign(stored.shape.begin(), stored.shape.end());
            value.sources = {value.name};
            operands.push_back(constant_data(weights, value, 0));
        }
        operands.emplace_back();
        return interpret(*op, bound_extents(*op, {}, "w"), operands, "w").at(0).values;
    }

    void expect_values(const std::string& blocks) const {
        const std::vector<double> found = embedded(repacked(blocks));
        const std::vector<float> expected = testing::dequantised(GetParam(), blocks);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) {
            if (std::isnan(expected[i]))
                EXPECT_TRUE(std::isnan(found[i])) << "element " << i;
            else
                EXPECT_EQ(found[i], expected[i]) << "element " << i;
        }
    }

    std::mt19937_64 random_{11};
};

TEST_P(Formats, ExpressionGivesThePlainValues) {
    expect_values(testing::random_blocks(GetParam(), kRows * kWidth, Halves::kWeights, random_));
}

TEST_P(Formats, AnyPatternOfBitsGivesThePlainValue) {
    for (int trial = 0; trial < 20; ++trial)
        expect_values(testing::random_blocks(GetParam(), kRows * kWidth, Halves::kAny, random_));
}

// Between them the operands hold every bit of a block once: their sizes add up, but for the bits by which
// bytes are wider than scales and minima of four or six and than the indices of a table, and a change of any
// bit changes one of them.
TEST_P(Formats, NoBitIsLost) {
    const std::string blocks = testing::random_blocks(GetParam(), kRows * kWidth, Halves::kAny, random_);
    const auto operands_of = [&](const std::string& bytes) {
        const RepackedWeights weights = repacked(bytes);
        std::vector<std::vector<std::byte>> all;
        for (const ops::WeightOperand& operand : ops::info(format()).operands) {
            const TensorContents contents = weights.contents(operand_source("w", operand));
            all.emplace_back(contents.bytes.begin(), contents.bytes.end());
        }
        return all;
    };
    const auto original = operands_of(blocks);
    size_t bytes = 0;
    for (const auto& operand : original) bytes += operand.size();
    static const std::map<std::string, size_t> kMoreBits = {{"Q4_K", 16 * 2},    {"Q5_K", 16 * 2},
                                                            {"Q3_K", 16 * 2},    {"Q2_K", 32 * 4},
                                                            {"IQ4_NL", 256 * 4}, {"MXFP4", 256 * 4 + 8 * 8}};
    const auto more = kMoreBits.find(GetParam());
    const size_t more_bits = more == kMoreBits.end() ? 0 : more->second;
    EXPECT_EQ(bytes, blocks.size() + kRows * kWidth / 256 * more_bits / 8);
    if (GetParam() == "MXFP4") return;  // has two zeros, which are one byte
    for (size_t bit = 0; bit < 8 * testing::block_bytes(GetParam()); ++bit) {
        std::string changed = blocks;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(operands_of(changed), original) << "bit " << bit;
    }
}

TEST_P(Formats, OperandsAreDescribedWithoutTheirContents) {
    const RepackedWeights weights =
        repacked(testing::random_blocks(GetParam(), kRows * kWidth, Halves::kAny, random_));
    for (const ops::WeightOperand& operand : ops::info(format()).operands) {
        const StoredTensor* tensor = weights.find(operand_source("w", operand));
        ASSERT_NE(tensor, nullptr);
        EXPECT_EQ(tensor->element, operand.type);
        EXPECT_THAT(tensor->shape, ElementsAre(kRows, kWidth / operand.block));
        EXPECT_TRUE(tensor->bytes.empty());
        EXPECT_EQ(weights.contents(operand_source("w", operand)).bytes.size(),
                  static_cast<size_t>(kRows * kWidth / operand.block * bits(operand.type) / 8));
    }
    EXPECT_EQ(weights.find("w")->type, GetParam());
    EXPECT_EQ(weights.names().size(), 1 + ops::info(format()).operands.size());
}

INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::ValuesIn(testing::quantised_types()),
                         [](const auto& instance) { return instance.param; });

TEST(RepackedWeights, OtherTensorsPass) {
    const auto source = std::make_shared<testing::MemoryWeights>();
    source->add("norm", "F32", {1}, "1234");
    source->add("ragged", "Q8_0", {33}, std::string(35, 'x'));
    const RepackedWeights weights(source);
    EXPECT_THAT(weights.names(), ElementsAre("norm", "ragged"));
    EXPECT_EQ(weights.contents("norm").bytes.size(), 4u);
    EXPECT_EQ(weights.find("norm#q"), nullptr);
}

}  // namespace
}  // namespace tessera::import
