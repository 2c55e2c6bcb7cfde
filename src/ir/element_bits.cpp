#include "ir/element_bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/error.h"

// Eight elements fill `bits` whole bytes. They move together in a word of 64 bits: fields that lie one to a
// byte are joined to pairs, these to fours, these to eights. With b bits each, and a byte on the left:
//
//     ....dddd ....cccc ....bbbb ....aaaa  ->  ........ ddddcccc ........ bbbbaaaa  ->  ... ddddccccbbbbaaaa

namespace tessera {
namespace {

static_assert(std::endian::native == std::endian::little, "the stream is read in words");

/// In every field of `field` bits, the lowest `low`.
constexpr uint64_t lowest(int low, int field) {
    uint64_t mask = (uint64_t{1} << low) - 1;
    for (int width = field; width < 64; width *= 2) mask |= mask << width;
    return mask;
}

/// The two halves of every field, each with `used` bits, become neighbours.
constexpr uint64_t joined(uint64_t word, int used, int field) {
    const uint64_t low = lowest(used, field);
    return (word & low) | ((word >> (field / 2 - used)) & (low << used));
}

constexpr uint64_t parted(uint64_t word, int used, int field) {
    const uint64_t low = lowest(used, field);
    return (word & low) | ((word & (low << used)) << (field / 2 - used));
}

template <int kBits>
uint64_t narrowed(uint64_t bytes) {
    return joined(joined(joined(bytes, kBits, 16), 2 * kBits, 32), 4 * kBits, 64);
}

template <int kBits>
uint64_t widened(uint64_t stream) {
    return parted(parted(parted(stream, 4 * kBits, 64), 2 * kBits, 32), kBits, 16);
}

/// All whole words; the number of values that they hold.
template <int kBits>
size_t write_words(std::span<const uint8_t> values, std::span<std::byte> to) {
    const size_t words = values.size() / 8;
    for (size_t i = 0; i < words; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, values.data() + 8 * i, 8);
        word = narrowed<kBits>(word);
        std::memcpy(to.data() + kBits * i, &word, kBits);
    }
    return 8 * words;
}

template <int kBits>
size_t read_words(std::span<const std::byte> stream, std::span<uint8_t> values) {
    const size_t words = values.size() / 8;
    for (size_t i = 0; i < words; ++i) {
        uint64_t word = 0;
        std::memcpy(&word, stream.data() + kBits * i, kBits);
        word = widened<kBits>(word);
        std::memcpy(values.data() + 8 * i, &word, 8);
    }
    return 8 * words;
}

/// Calls with the number of bits as a constant.
template <typename Call>
size_t with_bits(int bits, Call&& call) {
    switch (bits) {
        case 1:
            return call.template operator()<1>();
        case 2:
            return call.template operator()<2>();
        case 3:
            return call.template operator()<3>();
        case 4:
            return call.template operator()<4>();
        case 5:
            return call.template operator()<5>();
        case 6:
            return call.template operator()<6>();
        case 7:
            return call.template operator()<7>();
        default:
            return call.template operator()<8>();
    }
}

}  // namespace

void write_element_bits(std::span<const uint8_t> values, int bits, std::span<std::byte> to) {
    TESSERA_CHECK(bits >= 1 && bits <= 8 && to.size() == stream_bytes(values.size(), bits),
                  "{} values of {} bits in {} bytes", values.size(), bits, to.size());
    const size_t done = with_bits(bits, [&]<int kBits>() { return write_words<kBits>(values, to); });
    const uint64_t mask = (1U << bits) - 1;
    std::byte* out = to.data() + done / 8 * static_cast<size_t>(bits);
    for (size_t at = done; at < values.size(); at += 8) {
        const size_t count = std::min<size_t>(8, values.size() - at);
        uint64_t group = 0;
        for (size_t i = 0; i < count; ++i)
            group |= (values[at + i] & mask) << (i * static_cast<size_t>(bits));
        for (size_t i = 0; i < stream_bytes(count, bits); ++i)
            *out++ = static_cast<std::byte>(group >> 8 * i);
    }
}

void read_element_bits(std::span<const std::byte> stream, int bits, std::span<uint8_t> values) {
    TESSERA_CHECK(bits >= 1 && bits <= 8 && stream.size() >= stream_bytes(values.size(), bits),
                  "{} values of {} bits in {} bytes", values.size(), bits, stream.size());
    const size_t done = with_bits(bits, [&]<int kBits>() { return read_words<kBits>(stream, values); });
    for (size_t i = done; i < values.size(); ++i) values[i] = element_bits(stream.data(), bits, i);
}

}  // namespace tessera
