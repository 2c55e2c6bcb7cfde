#include "ir/element_bits.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ElementBits, AStreamHoldsTheLowBitsOfEveryValue) {
    std::mt19937_64 random(1);
    for (int bits = 1; bits <= 8; ++bits)
        for (size_t count = 0; count < 40; ++count) {
            std::vector<uint8_t> values(count);
            for (uint8_t& value : values) value = static_cast<uint8_t>(random());
            std::vector<std::byte> stream(stream_bytes(count, bits));
            write_element_bits(values, bits, stream);
            std::vector<uint8_t> read(count);
            read_element_bits(stream, bits, read);
            for (size_t i = 0; i < count; ++i) {
                const auto expected = static_cast<uint8_t>(values[i] & ((1U << bits) - 1));
                EXPECT_EQ(element_bits(stream.data(), bits, i), expected) << bits << " bits at " << i;
                EXPECT_EQ(read[i], expected) << bits << " bits at " << i;
            }
        }
}

}  // namespace
}  // namespace tessera
