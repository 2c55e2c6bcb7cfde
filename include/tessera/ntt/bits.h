#pragma once

#include "tessera/ntt/vector.h"

// Numbers of B < 8 bits, packed without gaps: number i is bits [i*B, (i + 1)*B) of a stream whose bit j is
// bit j%8 of byte j/8.
//
//     B = 3     byte 0            byte 1
//     bit       0 1 2 3 4 5 6 7   0 1 2 3 ...
//     number    0 0 0 1 1 1 2 2   2 3 3 3 ...

namespace tessera::ntt {

/// A pointer to numbers of B bits, unsigned or in two's complement, which are read and never written; the
/// first begins with a byte (`Whole`) or at any bit of one. No byte is read that holds no bit of a number
/// asked for.
template <int B, bool Signed, bool Whole>
class PackedBits {
    static_assert(B >= 1 && B <= 7);

public:
    static constexpr int kBits = B;
    static constexpr bool kIsSigned = Signed;

    constexpr PackedBits(const uint8_t* bytes) requires Whole : bytes_(bytes) {}
    constexpr PackedBits(const uint8_t* bytes, int bit) requires(!Whole) : bytes_(bytes), bit_(bit) {}

    /// The number that lies `elements` further on. A type of its own, so that where a pointer begins with a
    /// byte and only multiples of 8 are added, the compiler knows that bit() is 0.
    [[gnu::always_inline]] friend PackedBits<B, Signed, false> operator+(PackedBits p, int64_t elements) {
        const int64_t bits = elements * B + p.bit();
        return {p.bytes_ + (bits >> 3), static_cast<int>(bits & 7)};
    }

    [[gnu::always_inline]] int32_t operator[](int64_t i) const {
        const auto top = static_cast<uint32_t>((*this + i).word(1)) << (32 - B);
        return Signed ? static_cast<int32_t>(top) >> (32 - B) : static_cast<int32_t>(top >> (32 - B));
    }

    const uint8_t* bytes() const { return bytes_; }     ///< the byte in which the first number begins
    int bit() const { return static_cast<int>(bit_); }  ///< the bit of it, 0 to 7

    /// `count` numbers, 1 <= count <= 8: number i in bits [i*B, (i + 1)*B), and anything behind them. Eight
    /// numbers and a start within a byte are at most 63 bits.
    [[gnu::always_inline]] uint64_t word(int count) const {
        const int bytes = (bit() + count * B + 7) >> 3;
        uint64_t w = 0;
#pragma GCC unroll 1
        for (int i = 0; i < bytes; ++i) w |= static_cast<uint64_t>(bytes_[i]) << (8 * i);
        return w >> bit();
    }

private:
    const uint8_t* bytes_;
    [[no_unique_address]] std::conditional_t<Whole, Int<0>, int> bit_{};
};

template <int B>
using Bits = PackedBits<B, false, true>;
template <int B>
using SignedBits = PackedBits<B, true, true>;

}  // namespace tessera::ntt
