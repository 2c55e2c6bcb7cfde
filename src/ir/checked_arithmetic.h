#pragma once

#include <cstdint>

#include "support/error.h"

/// Integers that come from a file: 64 bits, and an Error instead of an overflow.
namespace tessera {

[[noreturn]] inline void integer_overflow(const std::string& where) {
    throw Error(where, "", "an integer expression exceeds 64 bits",
                "extents, factors and constants must be smaller");
}

inline int64_t checked_add(int64_t a, int64_t b, const std::string& where) {
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) integer_overflow(where);
    return sum;
}

inline int64_t checked_sub(int64_t a, int64_t b, const std::string& where) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(a, b, &difference)) integer_overflow(where);
    return difference;
}

inline int64_t checked_mul(int64_t a, int64_t b, const std::string& where) {
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) integer_overflow(where);
    return product;
}

/// Rounds to minus infinity. @throws Error for a zero divisor.
inline int64_t checked_floor_div(int64_t a, int64_t b, const std::string& where) {
    if (b == 0) throw Error(where, "", "an integer expression divides by zero");
    if (b == -1) return checked_sub(0, a, where);
    const int64_t quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// Has the sign of the divisor. @throws Error for a zero divisor.
inline int64_t checked_floor_mod(int64_t a, int64_t b, const std::string& where) {
    if (b == 0) throw Error(where, "", "an integer expression takes the remainder by zero");
    if (b == -1) return 0;
    const int64_t remainder = a % b;
    return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace tessera
