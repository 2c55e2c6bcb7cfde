#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// Elements of 1 to 8 bits in memory: a little-endian stream in which element i is the bits [i * bits,
/// (i + 1) * bits), and bit j of the stream is bit j mod 8 of byte j div 8.
namespace tessera {

/// Bytes that hold so many elements; the last one may end in zeros.
constexpr size_t stream_bytes(size_t elements, int bits) {
    return (elements * static_cast<size_t>(bits) + 7) / 8;
}

/// The pattern of element `index`, without a sign. @pre 1 <= bits <= 8, the stream holds the element.
inline uint8_t element_bits(const std::byte* stream, int bits, size_t index) {
    const size_t begin = index * static_cast<size_t>(bits);
    auto pattern = static_cast<unsigned>(stream[begin / 8]);
    // An element spans two bytes at most. The second one exists, since it holds some of the bits.
    if (begin % 8 + static_cast<size_t>(bits) > 8)
        pattern |= static_cast<unsigned>(stream[begin / 8 + 1]) << 8;
    return static_cast<uint8_t>(pattern >> begin % 8 & ((1U << bits) - 1));
}

/// Writes the low `bits` of each value, from the first byte of `to` on.
/// @pre `to` has stream_bytes(values.size(), bits).
void write_element_bits(std::span<const uint8_t> values, int bits, std::span<std::byte> to);
/// The inverse: the patterns of the first elements of the stream. @pre the stream holds them
void read_element_bits(std::span<const std::byte> stream, int bits, std::span<uint8_t> values);

}  // namespace tessera
