#include "import/quantise/quantise_block.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "import/quantise/scale_search.h"
#include "ir/half.h"
#include "support/error.h"

// A scale is searched in F32 and stored in fewer bits. The integers are rounded last, with the scale as it is
// stored.

namespace tessera::quantise {
namespace {

using ops::WeightFormat;

constexpr size_t kGroup = 32;       ///< elements that share a scale in most formats
constexpr size_t kSmallGroup = 16;  ///< in Q6_K
constexpr size_t kSuper = 256;
constexpr size_t kGroups = kSuper / kGroup;

void store_half(QuantisedBlock& block, size_t operand, float value) {
    const uint16_t pattern = half_pattern(value);
    block.operands[operand][0] = static_cast<uint8_t>(pattern);
    block.operands[operand][1] = static_cast<uint8_t>(pattern >> 8);
}

float stored_half(float value) {
    return half_value(half_pattern(value));
}

float inverse(float scale) {
    return scale == 0 ? 0 : 1 / scale;
}

int nearest(float x, int low, int high) {
    return static_cast<int>(std::lrintf(std::clamp(x, static_cast<float>(low), static_cast<float>(high))));
}

float square_mean(std::span<const float> x) {
    float sum = 0;
    for (const float value : x) sum += value * value;
    return sum / static_cast<float>(x.size());
}

using Importance = std::array<float, kGroup>;

Importance squares(std::span<const float> x) {
    Importance importance{};
    std::transform(x.begin(), x.end(), importance.begin(), [](float value) { return value * value; });
    return importance;
}

Importance magnitudes(std::span<const float> x) {
    Importance importance{};
    const float base = std::sqrt(square_mean(x));
    std::transform(x.begin(), x.end(), importance.begin(),
                   [&](float value) { return base + std::fabs(value); });
    return importance;
}

/// The largest element becomes 127: no search, as the error of 8 bits is small whatever the scale.
void quantise_q8(std::span<const float> x, QuantisedBlock& block) {
    float largest = 0;
    for (const float value : x) largest = std::max(largest, std::fabs(value));
    const float d = stored_half(largest / 127);
    for (size_t i = 0; i < kGroup; ++i)
        block.operands[0][i] = static_cast<uint8_t>(nearest(x[i] * inverse(d), -127, 127));
    store_half(block, 1, d);
}

/// Q4_0 and Q5_0: (q - zero) d.
void quantise_scaled(std::span<const float> x, int zero, QuantisedBlock& block) {
    const SearchLevels levels{.low = -zero, .high = zero - 1, .steps = 9, .step = 0.1F};
    const Importance importance = squares(x);
    const float d = stored_half(search_scale(x, importance, levels));
    for (size_t i = 0; i < kGroup; ++i)
        block.operands[0][i] = static_cast<uint8_t>(nearest(x[i] * inverse(d), -zero, zero - 1) + zero);
    store_half(block, 1, d);
}

/// Q4_1 and Q5_1: q d + m, m of either sign. The search wants values that reach down to zero or below, so it
/// is given them without their minimum, and finds how far below that the line should begin.
void quantise_affine(std::span<const float> x, int high, QuantisedBlock& block) {
    const Importance importance = magnitudes(x);
    const float lowest = *std::min_element(x.begin(), x.end());
    std::array<float, kGroup> above{};
    std::transform(x.begin(), x.end(), above.begin(), [&](float value) { return value - lowest; });
    const auto [scale, minimum] =
        search_scale_and_minimum(above, importance, {.low = 0, .high = high, .steps = 10, .step = 0.1F});
    const float d = stored_half(scale), m = stored_half(lowest - minimum);
    for (size_t i = 0; i < kGroup; ++i)
        block.operands[0][i] = static_cast<uint8_t>(nearest((x[i] - m) * inverse(d), 0, high));
    store_half(block, 1, d);
    store_half(block, 2, m);
}

/// Q4_K and Q5_K: q (s d) - m dmin, with s and m of 6 bits for each group.
void quantise_super(std::span<const float> x, int high, QuantisedBlock& block) {
    constexpr int kLargest = 63;
    std::array<ScaleAndMinimum, kGroups> found;
    float largest_scale = 0, largest_minimum = 0;
    for (size_t g = 0; g < kGroups; ++g) {
        const auto group = x.subspan(g * kGroup, kGroup);
        const Importance importance = magnitudes(group);
        found[g] =
            search_scale_and_minimum(group, importance, {.low = 0, .high = high, .steps = 10, .step = 0.1F});
        largest_scale = std::max(largest_scale, found[g].scale);
        largest_minimum = std::max(largest_minimum, found[g].minimum);
    }
    const float d = stored_half(largest_scale / kLargest);
    const float dmin = stored_half(largest_minimum / kLargest);
    for (size_t g = 0; g < kGroups; ++g) {
        const int s = nearest(found[g].scale * inverse(d), 0, kLargest);
        const int m = nearest(found[g].minimum * inverse(dmin), 0, kLargest);
        const float step = d * static_cast<float>(s), minimum = dmin * static_cast<float>(m);
        for (size_t i = g * kGroup; i < (g + 1) * kGroup; ++i)
            block.operands[0][i] = static_cast<uint8_t>(nearest((x[i] + minimum) * inverse(step), 0, high));
        block.operands[1][g] = static_cast<uint8_t>(s);
        block.operands[2][g] = static_cast<uint8_t>(m);
    }
    store_half(block, 3, d);
    store_half(block, 4, dmin);
}

/// Q6_K: (q - 32) s d, with s of 8 bits and either sign for each small group.
void quantise_six(std::span<const float> x, QuantisedBlock& block) {
    constexpr int kZero = 32;
    constexpr float kLargest = -128;  // the larger side of 8 bits
    std::array<float, kSuper / kSmallGroup> scales{};
    float largest = 0;
    for (size_t g = 0; g < scales.size(); ++g) {
        const auto group = x.subspan(g * kSmallGroup, kSmallGroup);
        const Importance importance = squares(group);
        scales[g] = search_scale(group, std::span(importance).first(kSmallGroup),
                                 {.low = -kZero, .high = kZero - 1, .steps = 9, .step = 0.1F});
        if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    const float d = stored_half(largest / kLargest);
    for (size_t g = 0; g < scales.size(); ++g) {
        const int s = nearest(scales[g] * inverse(d), -128, 127);
        const float step = d * static_cast<float>(s);
        for (size_t i = g * kSmallGroup; i < (g + 1) * kSmallGroup; ++i)
            block.operands[0][i] =
                static_cast<uint8_t>(nearest(x[i] * inverse(step), -kZero, kZero - 1) + kZero);
        block.operands[1][g] = static_cast<uint8_t>(s);
    }
    store_half(block, 2, d);
}

}  // namespace

void quantise_block(WeightFormat format, std::span<const float> x, QuantisedBlock& block) {
    TESSERA_CHECK(static_cast<int64_t>(x.size()) == ops::info(format).block, "{} elements", x.size());
    switch (format) {
        case WeightFormat::kQ8_0:
            return quantise_q8(x, block);
        case WeightFormat::kQ4_0:
            return quantise_scaled(x, 8, block);
        case WeightFormat::kQ5_0:
            return quantise_scaled(x, 16, block);
        case WeightFormat::kQ4_1:
            return quantise_affine(x, 15, block);
        case WeightFormat::kQ5_1:
            return quantise_affine(x, 31, block);
        case WeightFormat::kQ4_K:
            return quantise_super(x, 15, block);
        case WeightFormat::kQ5_K:
            return quantise_super(x, 31, block);
        case WeightFormat::kQ6_K:
            return quantise_six(x, block);
        case WeightFormat::kF32:
        case WeightFormat::kF16:
        case WeightFormat::kBF16:
        case WeightFormat::kQ2_K:
        case WeightFormat::kQ3_K:
        case WeightFormat::kIQ4_NL:
        case WeightFormat::kMXFP4:
        case WeightFormat::kInt4:
            break;
    }
    TESSERA_CHECK(false, "no weights are quantised to {}", ops::info(format).name);
}

}  // namespace tessera::quantise
