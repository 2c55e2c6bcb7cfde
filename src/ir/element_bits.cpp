#include "ir/element_bits.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace tessera {

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
        for (size_t i = 0; i < count; ++i)
            group |= (values[at + i] & mask) << (i * static_cast<size_t>(bits));
        for (size_t i = 0; i < stream_bytes(count, bits); ++i)
            *out++ = static_cast<std::byte>(group >> 8 * i);
    }
}

}  // namespace tessera
