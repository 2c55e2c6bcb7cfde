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
// and of 256, in which `q` is in groups of 64: byte l of 32 is element l, and l + 32 in its upper half:
//
//     Q4_K   d f16 | dmin f16 | scales x 12 | q x 128
//     Q5_K   d f16 | dmin f16 | scales x 12 | high x 32 | q x 128: bit j of byte l of `high` is the fifth bit
//            of element 32 j + l
//     Q6_K   low x 128 | high x 64 | s i8 x 16 | d f16, in halves of 128 elements: byte l of 64 of `low` is
//            element l, and l + 64 in its upper half; bits 2 j of byte l of 32 of `high` belong to 32 j + l
//
// The 12 bytes of scales hold 8 scales and 8 minima of 6 bits: the first four of each lie in the low bits of
// bytes 0-3 and 4-7; the others have their low half in bytes 8-11 (a scale below its minimum) and their upper
// two bits above the first four.

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

constexpr ReadOperand kQ8_0[] = {bytes<2, 32>, half<0>};
constexpr ReadOperand kQ4_0[] = {four_bits<2>, half<0>};
constexpr ReadOperand kQ4_1[] = {four_bits<4>, half<0>, half<2>};
constexpr ReadOperand kQ5_0[] = {five_bits<2>, half<0>};
constexpr ReadOperand kQ5_1[] = {five_bits<4>, half<0>, half<2>};
constexpr ReadOperand kQ4_K[] = {four_bits_of_256<16>, scales, minima, half<0>, half<2>};
constexpr ReadOperand kQ5_K[] = {five_bits_of_256, scales, minima, half<0>, half<2>};
constexpr ReadOperand kQ6_K[] = {six_bits_of_256, bytes<192, 16>, half<208>};

struct BlockLayout {
    WeightFormat format;
    std::span<const ReadOperand> readers;
    size_t bytes;
};

constexpr std::array kLayouts = {
    BlockLayout{WeightFormat::kQ8_0, kQ8_0, 34},  BlockLayout{WeightFormat::kQ4_0, kQ4_0, 18},
    BlockLayout{WeightFormat::kQ4_1, kQ4_1, 20},  BlockLayout{WeightFormat::kQ5_0, kQ5_0, 22},
    BlockLayout{WeightFormat::kQ5_1, kQ5_1, 24},  BlockLayout{WeightFormat::kQ4_K, kQ4_K, 144},
    BlockLayout{WeightFormat::kQ5_K, kQ5_K, 176}, BlockLayout{WeightFormat::kQ6_K, kQ6_K, 210},
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
