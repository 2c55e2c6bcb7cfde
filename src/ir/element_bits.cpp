#include "ir/element_bits.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace tessera {

uint8_t element_bits(std::span<const std::byte> stream, int bits, size_t index) {
    const size_t begin = index * static_cast<size_t>(bits);
    const size_t byte = begin / 8;
    auto pattern = static_cast<unsigned>(stream[byte]);
    // An element spans two bytes at most. That the second one exists follows from its bits being there.
    if (begin % 8 + static_cast<size_t>(bits) > 8) pattern |= static_cast<unsigned>(stream[byte + 1]) << 8;
    return static_cast<uint8_t>(pattern >> begin % 8 & ((1U << bits) - 1));
}

void write_element_bits(std::span<const uint8_t> values, int bits, std::span<std::byte> to) {
    TESSERA_CHECK(bits >= 1 && bits <= 8 && to.size() == stream_bytes(values.size(), bits),
                  "{} values of {} bits in {} bytes", values.size(), bits, to.size());
    if (bits == 8) {
        if (!values.empty()) std::memcpy(to.data(), values.data(), values.size());
        return;
    }
    // Eight values fill `bits` whole bytes.
    const uint64_t mask = (1U << bits) - 1;
    std::byte* out = to.data();
    for (size_t at = 0; at < values.size(); at += 8) {
        const size_t count = std::min<size_t>(8, values.size() - at);
        uint64_t group = 0;
        for (size_t i = 0; i < count; ++i) group |= (values[at + i] & mask) << (i * static_cast<size_t>(bits));
        for (size_t i = 0; i < stream_bytes(count, bits); ++i) *out++ = static_cast<std::byte>(group >> 8 * i);
    }
}

}  // namespace tessera
