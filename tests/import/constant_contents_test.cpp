#include "import/constant_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/part_place.h"
#include "import/quantised/memory_weights.h"
#include "support/error.h"

namespace tessera::import {
namespace {

using ::testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Two repetitions of [2, 3], in parts along an axis.
Value constant(size_t axis, std::vector<int64_t> extents) {
    return {.name = "w",
            .kind = ValueKind::kConstant,
            .type = {.element = ElementType::kI8, .shape = {2, 3}},
            .sources = {"a0", "b0", "a1", "b1"},
            .concatenation = Concatenation{axis, std::move(extents)}};
}

testing::MemoryWeights weights(std::vector<int64_t> first, std::vector<int64_t> second) {
    testing::MemoryWeights result;
    const std::string bytes = "abcdefghijkl";
    const auto size = [](const std::vector<int64_t>& shape) {
        return static_cast<size_t>(shape[0] * shape[1]);
    };
    for (const char* repetition : {"0", "1"}) {
        result.add(std::string("a") + repetition, "I8", first, bytes.substr(0, size(first)),
                   ElementType::kI8);
        result.add(std::string("b") + repetition, "I8", second,
                   repetition + bytes.substr(7, size(second) - 1), ElementType::kI8);
    }
    return result;
}

TEST(ConstantContents, PartsLieBehindEachOtherAlongTheAxis) {
    const auto columns = weights({2, 2}, {2, 1});
    EXPECT_EQ(text_of(constant_contents(columns, constant(1, {2, 1}), 0, "w").bytes), "ab0cdh");
    EXPECT_EQ(text_of(constant_contents(columns, constant(1, {2, 1}), 1, "w").bytes), "ab1cdh");
    const auto rows = weights({1, 3}, {1, 3});
    EXPECT_EQ(text_of(constant_contents(rows, constant(0, {1, 1}), 1, "w").bytes), "abc1hi");
}

TEST(ConstantContents, APartComesBackOutOfTheWhole) {
    const Value value = constant(1, {2, 1});
    const auto columns = weights({2, 2}, {2, 1});
    const TensorContents whole = constant_contents(columns, value, 0, "w");
    EXPECT_EQ(text_of(take_part(whole.bytes, place_of(value, 0))), "abcd");
    EXPECT_EQ(text_of(take_part(whole.bytes, place_of(value, 1))), "0h");
}

TEST(ConstantContents, NamesAPartThatIsNotWhatTheGraphExpects) {
    const auto problem = [](const Value& value) {
        try {
            (void)constant_contents(weights({2, 2}, {2, 1}), value, 0, "model");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(problem(constant(1, {1, 2})), HasSubstr("`a0`: is I8 [2, 2], the graph expects i8 [2, 1]"));
    Value other = constant(1, {2, 1});
    other.sources[1] = "c";
    EXPECT_THAT(problem(other), HasSubstr("model: `c`: is missing"));
}

}  // namespace
}  // namespace tessera::import
