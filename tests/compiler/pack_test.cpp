#include "compiler/pack.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace tessera::compiler {
namespace {

std::vector<std::byte> packed(std::span<const std::byte> source, const std::vector<int64_t>& shape,
                              const Layout& layout, int element_bits) {
    std::vector<std::byte> all;
    pack(source, shape, layout, element_bits, [&](std::span<const std::byte> piece) {
        EXPECT_LE(piece.size(), size_t{256} * 1024);
        all.insert(all.end(), piece.begin(), piece.end());
    });
    return all;
}

std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
    std::vector<std::byte> bytes(size);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random() | 1);  // never padding
    return bytes;
}

/// Packs element by element, by offset_of.
std::vector<std::byte> expected(std::span<const std::byte> source, const std::vector<int64_t>& shape,
                                const Layout& layout, size_t element_bytes) {
    std::vector<std::byte> all(static_cast<size_t>(stored_elements(layout, shape)) * element_bytes);
    std::vector<int64_t> coordinates(shape.size(), 0);
    const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    for (int64_t i = 0; i < elements; ++i) {
        int64_t rest = i;
        for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            coordinates[axis] = rest % shape[axis];
        std::memcpy(all.data() + static_cast<size_t>(offset_of(layout, shape, coordinates)) * element_bytes,
                    source.data() + static_cast<size_t>(i) * element_bytes, element_bytes);
    }
    return all;
}

TEST(Pack, MovesEveryElementWhereTheLayoutSays) {
    std::mt19937_64 random(1);
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
    for (int trial = 0; trial < 3000; ++trial) {
        std::vector<int64_t> shape(random() % 4);
        for (int64_t& extent : shape) extent = 1 + below(trial % 10 == 0 ? 40 : 9);
        Layout layout;
        if (random() % 2 == 0) {
            for (size_t axis = 0; axis < shape.size(); ++axis) layout.order.push_back(static_cast<int>(axis));
            std::shuffle(layout.order.begin(), layout.order.end(), random);
        }
        for (int64_t lanes = shape.empty() ? 0 : below(4); lanes > 0; --lanes)
            layout.lanes.push_back(
                {static_cast<int>(below(shape.size())), 2 + below(trial % 7 == 0 ? 17 : 4)});
        const size_t element_bytes = size_t{1} << random() % 4;
        size_t bytes = element_bytes;
        for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
        const std::vector<std::byte> source = random_bytes(bytes, random);
        ASSERT_EQ(packed(source, shape, layout, static_cast<int>(8 * element_bytes)),
                  expected(source, shape, layout, element_bytes))
            << print(layout) << " in trial " << trial;
    }
}

/// Bit j of the stream is bit j mod 8 of byte j div 8.
std::vector<std::byte> stream_of(const std::vector<std::byte>& values, size_t bits) {
    std::vector<std::byte> stream((values.size() * bits + 7) / 8);
    for (size_t j = 0; j < values.size() * bits; ++j)
        stream[j / 8] |= (values[j / bits] >> j % bits & std::byte{1}) << j % 8;
    return stream;
}

TEST(Pack, ElementsOfLessThanAByteAreAStreamOfBits) {
    std::mt19937_64 random(3);
    const std::vector<std::pair<std::vector<int64_t>, Layout>> cases = {
        {{5, 7}, {}},
        {{}, {}},
        {{5, 7}, {.order = {1, 0}, .lanes = {}}},
        {{48, 32}, {.order = {}, .lanes = {{0, 16}}}},
        {{33, 9}, {.order = {}, .lanes = {{0, 8}, {1, 4}}}},
        {{700, 903}, {.order = {1, 0}, .lanes = {}}},  // several pieces, which end within a byte
        {{700, 903}, {.order = {}, .lanes = {{1, 2}, {0, 3}}}}};
    for (const int bits : {2, 3, 4, 5, 6})
        for (const auto& [shape, layout] : cases) {
            std::vector<std::byte> values(static_cast<size_t>(
                std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())));
            for (std::byte& each : values) each = static_cast<std::byte>(1 + random() % ((1U << bits) - 1));
            const auto width = static_cast<size_t>(bits);
            EXPECT_EQ(packed(stream_of(values, width), shape, layout, bits),
                      stream_of(expected(values, shape, layout, 1), width))
                << bits << " bits, " << print(layout);
        }
}

TEST(Pack, LargeTensorsPassInPieces) {
    std::mt19937_64 random(2);
    // More than one piece, in rows (copied), in lanes (transposed, with padding), and with a long last axis.
    const std::vector<int64_t> shape = {130, 1030};
    const std::vector<std::byte> source = random_bytes(130 * 1030 * 4, random);
    const Layout row_major, rows{.order = {}, .lanes = {{0, 16}}}, columns{.order = {1, 0}, .lanes = {}},
        both{.order = {}, .lanes = {{0, 16}, {1, 2}}};
    for (const Layout& layout : {row_major, rows, columns, both})
        EXPECT_EQ(packed(source, shape, layout, 32), expected(source, shape, layout, 4)) << print(layout);
    const Layout swapped{.order = {1, 0}, .lanes = {}};
    const std::vector<int64_t> wide = {133900, 1};
    EXPECT_EQ(packed(source, wide, swapped, 32), expected(source, wide, swapped, 4));
}

}  // namespace
}  // namespace tessera::compiler
