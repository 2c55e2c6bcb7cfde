#include "import/quantised/ggml_blocks.h"

#include <array>
#include <cstring>

#include "support/error.h"

// Blocks of 32 elements:
//
//     Q8_0   d f16 | q i8 x 32
//     Q4_0   d f16 |                  q x 16: byte j is element j, and j + 16 in its upper half
//     Q4_1   d f16 | m f16 |          q x 16
//     Q5_0   d f16 | high x 4 |       q x 16: bit j of `high` is the fifth bit of element j
//     Q5_1   d f16 | m f16 | high x 4 | q x 16
//
//     IQ4_NL d f16 |                  q x 16 as in Q4_0, each an index of kNonLinear
//     INT4   d f16 | zero u8 |        q x 16 as in Q4_0: not ggml's (import/hf/packed_weights.h)
//     MXFP4  e u8 |                   q x 16 as in Q4_0, each an index of kHalvesOfFp4; d is 2^(e - 128)
//
// and of 256, in which `q` is in groups of 64: byte l of 32 is element l, and l + 32 in its upper half:
//
//     Q2_K   s x 16 | q x 64 | d f16 | dmin f16: a byte of `s` has a minimum above its scale; in halves of
//            128 elements, bits 2 j of byte l of 32 of `q` are element 32 j + l
//     Q3_K   high x 32 | q x 64 as in Q2_K | scales x 12 | d f16: bit j of byte l of `high` is the third bit
//     of
//            element 32 j + l
//     Q4_K   d f16 | dmin f16 | scales x 12 | q x 128
//     Q5_K   d f16 | dmin f16 | scales x 12 | high x 32 | q x 128: bit j of byte l of `high` is the fifth bit
//            of element 32 j + l
//     Q6_K   low x 128 | high x 64 | s i8 x 16 | d f16, in halves of 128 elements: byte l of 64 of `low` is
//            element l, and l + 64 in its upper half; bits 2 j of byte l of 32 of `high` belong to 32 j + l
//
// The 12 bytes of scales hold 8 scales and 8 minima of 6 bits: the first four of each lie in the low bits of
// bytes 0-3 and 4-7; the others have their low half in bytes 8-11 (a scale below its minimum) and their upper
// two bits above the first four. Those of Q3_K hold 16 scales of 6 bits, from which 32 is subtracted: their
// low half is in bytes 0-7, of the first eight in the lower half of a byte; bits 2 j of byte 8 + i are the
// upper two of scale 4 j + i.

namespace tessera::import {
namespace {

using ops::WeightFormat;

template <size_t kOffset>
void half(const uint8_t* block, uint8_t* to) {
    std::memcpy(to, block + kOffset, 2);
}

template <size_t kOffset, size_t kCount>
void bytes(const uint8_t* block, uint8_t* to) {
    std::memcpy(to, block + kOffset, kCount);
}

/// `kBytes` bytes, then as many elements from their upper halves.
template <size_t kBytes>
void nibbles(const uint8_t* from, uint8_t* to) {
    for (size_t j = 0; j < kBytes; ++j) {
        to[j] = from[j] & 15;
        to[j + kBytes] = from[j] >> 4;
    }
}

template <size_t kOffset>
void four_bits(const uint8_t* block, uint8_t* to) {
    nibbles<16>(block + kOffset, to);
}

template <size_t kOffset>
void five_bits(const uint8_t* block, uint8_t* to) {
    nibbles<16>(block + kOffset + 4, to);
    for (size_t j = 0; j < 32; ++j) to[j] |= static_cast<uint8_t>((block[kOffset + j / 8] >> j % 8 & 1) << 4);
}

constexpr size_t kScales = 4;

void scales(const uint8_t* block, uint8_t* to) {
    const uint8_t* from = block + kScales;
    for (size_t j = 0; j < 4; ++j) {
        to[j] = from[j] & 63;
        to[j + 4] = static_cast<uint8_t>((from[j + 8] & 15) | (from[j] >> 6 << 4));
    }
}

void minima(const uint8_t* block, uint8_t* to) {
    const uint8_t* from = block + kScales;
    for (size_t j = 0; j < 4; ++j) {
        to[j] = from[j + 4] & 63;
        to[j + 4] = static_cast<uint8_t>((from[j + 8] >> 4) | (from[j + 4] >> 6 << 4));
    }
}

template <size_t kOffset>
void four_bits_of_256(const uint8_t* block, uint8_t* to) {
    for (size_t group = 0; group < 4; ++group) nibbles<32>(block + kOffset + 32 * group, to + 64 * group);
}

void five_bits_of_256(const uint8_t* block, uint8_t* to) {
    constexpr size_t kHigh = 16, kLow = 48;
    four_bits_of_256<kLow>(block, to);
    for (size_t j = 0; j < 8; ++j)
        for (size_t l = 0; l < 32; ++l)
            to[32 * j + l] |= static_cast<uint8_t>((block[kHigh + l] >> j & 1) << 4);
}

void six_bits_of_256(const uint8_t* block, uint8_t* to) {
    constexpr size_t kHigh = 128;
    for (size_t h = 0; h < 2; ++h) {
        nibbles<64>(block + 64 * h, to + 128 * h);
        for (size_t j = 0; j < 4; ++j)
            for (size_t l = 0; l < 32; ++l)
                to[128 * h + 32 * j + l] |=
                    static_cast<uint8_t>((block[kHigh + 32 * h + l] >> 2 * j & 3) << 4);
    }
}

/// The numbers that indices of four bits stand for. Source: kvalues_iq4nl and kvalues_mxfp4 of ggml-common.h.
constexpr std::array<int8_t, 16> kNonLinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
constexpr std::array<int8_t, 16> kHalvesOfFp4 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

template <const std::array<int8_t, 16>& kNumbers, size_t kOffset>
void looked_up(const uint8_t* block, uint8_t* to) {
    nibbles<16>(block + kOffset, to);
    for (size_t j = 0; j < 32; ++j) to[j] = static_cast<uint8_t>(kNumbers[to[j]]);
}

/// 2^(e - 128) as a BF16; the two smallest are subnormal.
void power_of_two(const uint8_t* block, uint8_t* to) {
    const unsigned e = block[0];
    const unsigned pattern = e < 2 ? 0x20u << e : (e - 1) << 7;
    to[0] = static_cast<uint8_t>(pattern);
    to[1] = static_cast<uint8_t>(pattern >> 8);
}

template <size_t kOffset>
void two_bits_of_256(const uint8_t* block, uint8_t* to) {
    for (size_t h = 0; h < 2; ++h)
        for (size_t j = 0; j < 4; ++j)
            for (size_t l = 0; l < 32; ++l)
                to[128 * h + 32 * j + l] = block[kOffset + 32 * h + l] >> 2 * j & 3;
}

template <size_t kOffset>
void lower_halves(const uint8_t* block, uint8_t* to) {
    for (size_t j = 0; j < 16; ++j) to[j] = block[kOffset + j] & 15;
}

template <size_t kOffset>
void upper_halves(const uint8_t* block, uint8_t* to) {
    for (size_t j = 0; j < 16; ++j) to[j] = block[kOffset + j] >> 4;
}

void three_bits_of_256(const uint8_t* block, uint8_t* to) {
    constexpr size_t kLow = 32;
    two_bits_of_256<kLow>(block, to);
    for (size_t j = 0; j < 8; ++j)
        for (size_t l = 0; l < 32; ++l) to[32 * j + l] |= static_cast<uint8_t>((block[l] >> j & 1) << 2);
}

void signed_scales(const uint8_t* block, uint8_t* to) {
    const uint8_t* from = block + 96;
    for (size_t j = 0; j < 16; ++j) {
        const int low = from[j % 8] >> (j < 8 ? 0 : 4) & 15;
        const int high = from[8 + j % 4] >> 2 * (j / 4) & 3;
        to[j] = static_cast<uint8_t>((low | high << 4) - 32);
    }
}

constexpr ReadOperand kQ8_0[] = {bytes<2, 32>, half<0>};
constexpr ReadOperand kQ4_0[] = {four_bits<2>, half<0>};
constexpr ReadOperand kQ4_1[] = {four_bits<4>, half<0>, half<2>};
constexpr ReadOperand kQ5_0[] = {five_bits<2>, half<0>};
constexpr ReadOperand kQ5_1[] = {five_bits<4>, half<0>, half<2>};
constexpr ReadOperand kQ2_K[] = {two_bits_of_256<16>, lower_halves<0>, upper_halves<0>, half<80>, half<82>};
constexpr ReadOperand kQ3_K[] = {three_bits_of_256, signed_scales, half<108>};
constexpr ReadOperand kIQ4_NL[] = {looked_up<kNonLinear, 2>, half<0>};
constexpr ReadOperand kInt4[] = {four_bits<3>, bytes<2, 1>, half<0>};
constexpr ReadOperand kMXFP4[] = {looked_up<kHalvesOfFp4, 1>, power_of_two};
constexpr ReadOperand kQ4_K[] = {four_bits_of_256<16>, scales, minima, half<0>, half<2>};
constexpr ReadOperand kQ5_K[] = {five_bits_of_256, scales, minima, half<0>, half<2>};
constexpr ReadOperand kQ6_K[] = {six_bits_of_256, bytes<192, 16>, half<208>};

struct BlockLayout {
    WeightFormat format;
    std::span<const ReadOperand> readers;
    size_t bytes;
};

constexpr std::array kLayouts = {
    BlockLayout{WeightFormat::kQ8_0, kQ8_0, 34},     BlockLayout{WeightFormat::kQ4_0, kQ4_0, 18},
    BlockLayout{WeightFormat::kQ4_1, kQ4_1, 20},     BlockLayout{WeightFormat::kQ5_0, kQ5_0, 22},
    BlockLayout{WeightFormat::kQ5_1, kQ5_1, 24},     BlockLayout{WeightFormat::kQ4_K, kQ4_K, 144},
    BlockLayout{WeightFormat::kQ2_K, kQ2_K, 84},     BlockLayout{WeightFormat::kQ3_K, kQ3_K, 110},
    BlockLayout{WeightFormat::kIQ4_NL, kIQ4_NL, 18}, BlockLayout{WeightFormat::kMXFP4, kMXFP4, 17},
    BlockLayout{WeightFormat::kInt4, kInt4, 19},     BlockLayout{WeightFormat::kQ5_K, kQ5_K, 176},
    BlockLayout{WeightFormat::kQ6_K, kQ6_K, 210},
};

const BlockLayout& layout_of(WeightFormat format) {
    for (const BlockLayout& each : kLayouts)
        if (each.format == format) return each;
    TESSERA_CHECK(false, "{} has no blocks", ops::info(format).name);
}

}  // namespace

std::span<const ReadOperand> block_readers(WeightFormat format) {
    return layout_of(format).readers;
}

size_t block_bytes(WeightFormat format) {
    return layout_of(format).bytes;
}

}  // namespace tessera::import
