#include "compiler/part_weights.h"

#include <random>

#include <gtest/gtest.h>

namespace tessera::compiler {
namespace {

/// The element at a position of a stream of so many bits each.
unsigned element(std::span<const std::byte> bytes, size_t at, int bits) {
    unsigned value = 0;
    for (int b = 0; b < bits; ++b) {
        const size_t bit = at * static_cast<size_t>(bits) + static_cast<size_t>(b);
        value |= (std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1U) << b;
    }
    return value;
}

TEST(PartsOfWeights, HaveTheElementsInTheirRanges) {
    std::mt19937 random(1);
    const auto pick = [&](int64_t low, int64_t high) {
        return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    for (int trial = 0; trial < 300; ++trial) {
        const int bits = std::array{1, 2, 3, 4, 5, 6, 8, 16, 32}[static_cast<size_t>(trial % 9)];
        const std::vector<int64_t> shape = {pick(1, 3), pick(1, 5), 8 * pick(1, 4)};
        std::vector<std::byte> whole(static_cast<size_t>(shape[0] * shape[1] * shape[2] * bits / 8));
        for (std::byte& byte : whole) byte = static_cast<std::byte>(random());
        std::vector<facts::Range> ranges;
        for (const int64_t extent : shape) {
            const int64_t first = pick(0, extent - 1);
            ranges.push_back({first, pick(first + 1, extent)});
        }
        const int64_t elements = ranges[0].size() * ranges[1].size() * ranges[2].size();
        if (elements * bits % 8 != 0) continue;
        const std::vector<std::byte> part = cut_out(whole, shape, ranges, bits);
        size_t at = 0;
        for (int64_t i = ranges[0].first; i < ranges[0].last; ++i)
            for (int64_t j = ranges[1].first; j < ranges[1].last; ++j)
                for (int64_t k = ranges[2].first; k < ranges[2].last; ++k) {
                    const auto from = static_cast<size_t>((i * shape[1] + j) * shape[2] + k);
                    ASSERT_EQ(element(part, at++, bits), element(whole, from, bits)) << trial;
                }
        EXPECT_EQ(part.size() * 8, at * static_cast<size_t>(bits));
    }
}

}  // namespace
}  // namespace tessera::compiler
