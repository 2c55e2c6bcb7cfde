#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// Element types of the operator notation. Sizes are in bits, since types of 2 to 6 bits exist: elements
/// lie in memory as one little-endian stream of bits, in which element i is the bits [i * bits(), (i + 1) *
/// bits()), and bit j of the stream is bit j mod 8 of byte j div 8.
enum class ElementType : uint8_t {
    kF64,
    kF32,
    kF16,
    kBF16,
    kI64,
    kI32,
    kI16,
    kI8,
    kU64,  ///< numbers up to the largest i64
    kU32,
    kU16,
    kU8,
    kBool,  ///< a byte, 0 or 1
    kU6,
    kU5,
    kI4,
    kU4,
    kU3,
    kU2,
};

struct IntegerRange {
    int64_t low;   ///< inclusive
    int64_t high;  ///< inclusive
};

int bits(ElementType type);
std::string_view name(ElementType type);  ///< "f32", "bf16", ...
std::optional<ElementType> element_type_of(std::string_view name);
bool is_integer(ElementType type);
/// The values of an integer type. @pre is_integer(type)
IntegerRange range(ElementType type);
/// The value as an element of this type holds it: integers drop the fraction and saturate, floats round to
/// nearest even by way of f32 (zoo notation, "casts by type name").
double round_to(ElementType type, double value);
/// True if f32 holds every value of the type.
bool fits_f32(ElementType type);
/// True if compiled arithmetic in f32 reads such numbers. F32 would hold integers of 16 bits, too, but NTT
/// widens those of a byte and less alone.
bool is_read_as_f32(ElementType type);
/// True if a cast keeps every value, so that it counts as linear (zoo notation, facts sbp and linear).
bool is_exact_cast(ElementType from, ElementType to);

}  // namespace tessera
