#include "fuzz/programs/contents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::fuzz {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

size_t count_of(const std::vector<int64_t>& shape) {
    return static_cast<size_t>(
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>()));
}

const std::vector<double>& special_values(ElementType type) {
    // The largest finite F32 is left out: sums of it overflow in one order and not in another.
    static const std::vector<double> kF32 = {kNaN, kInf, -kInf, -0.0, 0.0, 1e-40, -3e-39, 0x1p-149, 0x1p-126};
    static const std::vector<double> kF16 = {kNaN, kInf, -kInf, -0.0, 0.0, 0x1p-24, -0x1p-20, 65504, 0x1p-14};
    static const std::vector<double> kBF16 = {kNaN, kInf, -kInf, -0.0, 0.0, 0x1p-133, -0x1p-130, 0x1p-126};
    if (type == ElementType::kF16) return kF16;
    return type == ElementType::kBF16 ? kBF16 : kF32;
}

double real_number(uint64_t random, int64_t palette) {
    const auto uniform = static_cast<double>(random >> 11) * 0x1p-53;
    switch (palette) {
        case 0:
            return static_cast<double>(random % 9) - 4;
        case 1:
            return static_cast<double>(random % 65) / 8 - 4;  // sums of these are exact
        case 2:
            return uniform * 2 - 1;
        default:
            return std::ldexp(uniform * 2 - 1, static_cast<int>(random % 9) - 4);
    }
}

double whole_number(uint64_t random, int64_t palette, IntegerRange range) {
    const auto between = [&](int64_t low, int64_t high) {
        low = std::max(low, range.low);
        high = std::min(high, range.high);
        return static_cast<double>(low +
                                   static_cast<int64_t>(random % static_cast<uint64_t>(high - low + 1)));
    };
    if (palette == 0) return between(0, 4);
    if (palette == 3 && random % 7 == 0) return static_cast<double>(random % 2 ? range.low : range.high);
    return palette == 1 ? between(-20, 20) : between(-128, 255);
}

}  // namespace

TensorData draw_contents(Choices& choices, ElementType type, std::vector<int64_t> shape) {
    TensorData data{std::move(shape), {}};
    const int64_t palette = choices.below(4);
    const bool has_specials = choices.chance(30);
    const std::vector<double>& specials = special_values(type);
    // One special number alone shows more than all of them, which make everything NaN.
    const auto only = static_cast<size_t>(choices.below(static_cast<int64_t>(specials.size()) + 1));
    std::mt19937_64 random(static_cast<uint64_t>(choices.below(1 << 20)));
    for (size_t i = 0; i < count_of(data.shape); ++i) {
        if (is_integer(type)) {
            data.values.push_back(whole_number(random(), palette, range(type)));
            continue;
        }
        double value = real_number(random(), palette);
        if (has_specials && random() % 11 == 0)
            value = only < specials.size() ? specials[only] : specials[random() % specials.size()];
        data.values.push_back(round_to(type, value));
    }
    return data;
}

TensorData draw_indices(Choices& choices, std::vector<int64_t> shape, int64_t low, int64_t high,
                        bool is_distinct) {
    TensorData data{std::move(shape), {}};
    std::mt19937_64 random(static_cast<uint64_t>(choices.below(1 << 20)));
    const auto span = static_cast<uint64_t>(high - low + 1);
    std::vector<int64_t> all;
    if (is_distinct) {
        for (int64_t i = low; i <= high; ++i) all.push_back(i);
        for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
    }
    for (size_t i = 0; i < count_of(data.shape); ++i)
        data.values.push_back(
            static_cast<double>(is_distinct ? all.at(i) : low + static_cast<int64_t>(random() % span)));
    return data;
}

}  // namespace tessera::fuzz
