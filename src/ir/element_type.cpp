#include "ir/element_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace tessera {
namespace {

struct TypeFacts {
    ElementType type;
    std::string_view name;
    int bits;
    bool is_integer;
    IntegerRange range;
};

constexpr int64_t kLeastI64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kLargestI64 = std::numeric_limits<int64_t>::max();

constexpr std::array<TypeFacts, 19> kTypes = {{
    {ElementType::kF64, "f64", 64, false, {0, 0}},
    {ElementType::kF32, "f32", 32, false, {0, 0}},
    {ElementType::kF16, "f16", 16, false, {0, 0}},
    {ElementType::kBF16, "bf16", 16, false, {0, 0}},
    {ElementType::kI64, "i64", 64, true, {kLeastI64, kLargestI64}},
    {ElementType::kI32, "i32", 32, true, {-(int64_t{1} << 31), (int64_t{1} << 31) - 1}},
    {ElementType::kI16, "i16", 16, true, {-32768, 32767}},
    {ElementType::kI8, "i8", 8, true, {-128, 127}},
    {ElementType::kU64, "u64", 64, true, {0, kLargestI64}},
    {ElementType::kU32, "u32", 32, true, {0, (int64_t{1} << 32) - 1}},
    {ElementType::kU16, "u16", 16, true, {0, 65535}},
    {ElementType::kU8, "u8", 8, true, {0, 255}},
    {ElementType::kBool, "bool", 8, true, {0, 1}},
    {ElementType::kU6, "u6", 6, true, {0, 63}},
    {ElementType::kU5, "u5", 5, true, {0, 31}},
    {ElementType::kI4, "i4", 4, true, {-8, 7}},
    {ElementType::kU4, "u4", 4, true, {0, 15}},
    {ElementType::kU3, "u3", 3, true, {0, 7}},
    {ElementType::kU2, "u2", 2, true, {0, 3}},
}};

const TypeFacts& facts_of(ElementType type) {
    const auto index = static_cast<size_t>(type);
    TESSERA_CHECK(index < kTypes.size() && kTypes[index].type == type, "element type {}", index);
    return kTypes[index];
}

/// Largest finite f16, and the first magnitude that rounds to infinity instead (half a step above it).
constexpr double kF16Overflow = 65520.0;

double round_to_f16(float value) {
    if (!std::isfinite(value) || value == 0) return value;
    if (std::fabs(value) >= kF16Overflow) return std::copysign(INFINITY, value);
    // 11 significant bits; below 2^-14 the step stays that of the subnormals, 2^-24.
    const int exponent = std::max(std::ilogb(value), -14);
    const double step = std::ldexp(1.0, exponent - 10);
    return std::copysign(std::nearbyint(value / step) * step, value);
}

double round_to_bf16(float value) {
    if (!std::isfinite(value)) return value;
    uint32_t pattern = std::bit_cast<uint32_t>(value);
    pattern += 0x7FFF + (pattern >> 16 & 1);  // nearest, ties to even, on the upper 16 bits
    return std::bit_cast<float>(pattern & 0xFFFF0000U);
}

}  // namespace

int bits(ElementType type) {
    return facts_of(type).bits;
}

std::string_view name(ElementType type) {
    return facts_of(type).name;
}

std::optional<ElementType> element_type_of(std::string_view name) {
    const auto* found = std::ranges::find(kTypes, name, &TypeFacts::name);
    if (found == kTypes.end()) return std::nullopt;
    return found->type;
}

bool is_integer(ElementType type) {
    return facts_of(type).is_integer;
}

IntegerRange range(ElementType type) {
    TESSERA_CHECK(is_integer(type), "{} has no integer range", name(type));
    return facts_of(type).range;
}

double round_to(ElementType type, double value) {
    if (is_integer(type)) {
        const IntegerRange limits = range(type);
        if (std::isnan(value)) return value;
        // Integers have one zero.
        return std::clamp(std::trunc(value), static_cast<double>(limits.low),
                          static_cast<double>(limits.high)) +
               0.0;
    }
    if (type == ElementType::kF64) return value;
    const auto single = static_cast<float>(value);
    if (type == ElementType::kF16) return round_to_f16(single);
    if (type == ElementType::kBF16) return round_to_bf16(single);
    return single;
}

bool fits_f32(ElementType type) {
    constexpr int64_t kF32Largest = int64_t{1} << 24;  // of consecutive integers
    if (!is_integer(type)) return type != ElementType::kF64;
    return -kF32Largest <= range(type).low && range(type).high <= kF32Largest;
}

bool is_read_as_f32(ElementType type) {
    return fits_f32(type) && (!is_integer(type) || bits(type) <= 8);
}

bool is_exact_cast(ElementType from, ElementType to) {
    if (to == from || to == ElementType::kF64) return true;
    // The zoo has integers of 32 bits become f32, too.
    if (!is_integer(from)) return to == ElementType::kF32 && from != ElementType::kF64;
    const IntegerRange values = range(from);
    if (is_integer(to)) return range(to).low <= values.low && values.high <= range(to).high;
    if (from != ElementType::kI32 && !fits_f32(from)) return false;
    constexpr int64_t kF16Largest = 65504;
    return to != ElementType::kF16 || (-kF16Largest <= values.low && values.high <= kF16Largest);
}

}  // namespace tessera
