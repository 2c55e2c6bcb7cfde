#include "compiler/unpack.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/pack.h"

namespace tessera::compiler {
namespace {

struct Case {
    std::vector<int64_t> shape;
    Layout layout;
};

// Layouts of vector and matrix units, axes that occur twice, and extents that the lanes do not divide.
const std::vector<Case> kCases = {
    {{5, 7}, {}},
    {{5, 7}, {{1, 0}, {}}},
    {{32, 9}, {{}, {{0, 16}}}},
    {{33, 9}, {{}, {{0, 16}}}},
    {{33, 9}, {{}, {{0, 8}, {1, 4}}}},
    {{6, 9}, {{1, 0}, {{1, 2}, {0, 4}, {1, 2}}}},
    {{3, 4, 5, 6}, {{0, 2, 3, 1}, {}}},
    {{3, 4, 5, 6}, {{2, 0, 3, 1}, {{3, 4}, {0, 2}}}},
    {{64}, {{}, {{0, 16}}}},
    {{1}, {{}, {{0, 16}}}},
};

class Unpack : public ::testing::TestWithParam<int> {};

TEST_P(Unpack, UndoesPack) {
    const int element_bits = GetParam();
    for (const Case& c : kCases) {
        size_t elements = 1;
        for (const int64_t extent : c.shape) elements *= static_cast<size_t>(extent);
        const size_t bits = elements * static_cast<size_t>(element_bits);
        std::vector<std::byte> source((bits + 7) / 8);
        for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37 % 251 + 1);
        // The bits behind the last element in its byte are zero.
        if (bits % 8 != 0) source.back() &= static_cast<std::byte>((1U << bits % 8) - 1);
        std::vector<std::byte> packed;
        pack(source, c.shape, c.layout, element_bits, [&](std::span<const std::byte> piece) {
            packed.insert(packed.end(), piece.begin(), piece.end());
        });
        EXPECT_EQ(unpack(packed, c.shape, c.layout, element_bits), source) << print(c.layout);
    }
}

TEST_P(Unpack, ReadsWhereTheLayoutSays) {
    if (GetParam() < 8) GTEST_SKIP() << "by way of pack";
    const auto element_bytes = static_cast<size_t>(GetParam()) / 8;
    for (const Case& c : kCases) {
        const auto stored = static_cast<size_t>(stored_elements(c.layout, c.shape));
        std::vector<std::byte> packed(stored * element_bytes);
        for (size_t i = 0; i < packed.size(); ++i)
            packed[i] = static_cast<std::byte>(i / element_bytes % 251);
        const std::vector<std::byte> rows = unpack(packed, c.shape, c.layout, GetParam());
        std::vector<int64_t> coordinates(c.shape.size(), 0);
        for (size_t i = 0; i < rows.size(); i += element_bytes) {
            EXPECT_EQ(rows[i], static_cast<std::byte>(offset_of(c.layout, c.shape, coordinates) % 251))
                << print(c.layout);
            for (size_t axis = c.shape.size(); axis-- > 0;) {
                if (++coordinates[axis] < c.shape[axis]) break;
                coordinates[axis] = 0;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(ElementBits, Unpack, ::testing::Values(4, 5, 6, 8, 16, 32, 64));

}  // namespace
}  // namespace tessera::compiler
