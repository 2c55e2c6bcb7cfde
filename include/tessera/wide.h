#pragma once

/* Numbers of 64 bits, for code that computes in them: doubles, and integers that wrap around. Both back ends
   use these functions, in C99 and in C++. */
#ifdef __cplusplus
#include <cmath>
#include <cstdint>
#include <cstring>
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#endif

#define TESSERA_WIDE static inline __attribute__((unused))

/* Integers. They are added as unsigned ones, whose overflow is defined. Quotients are rounded down, and a
   rest has the sign of the divisor; both are 0 where the divisor is. */

TESSERA_WIDE int64_t tessera_i64_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
TESSERA_WIDE int64_t tessera_i64_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
TESSERA_WIDE int64_t tessera_i64_mul(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
TESSERA_WIDE int64_t tessera_i64_neg(int64_t a) {
    return (int64_t)(0 - (uint64_t)a);
}
TESSERA_WIDE int64_t tessera_i64_abs(int64_t a) {
    return a < 0 ? tessera_i64_neg(a) : a;
}
TESSERA_WIDE int64_t tessera_i64_div(int64_t a, int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return tessera_i64_neg(a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
TESSERA_WIDE int64_t tessera_i64_mod(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
TESSERA_WIDE int64_t tessera_i64_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
TESSERA_WIDE int64_t tessera_i64_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}
TESSERA_WIDE int64_t tessera_i64_round(int64_t a) {
    return a;
}
TESSERA_WIDE int64_t tessera_i64_bitand(int64_t a, int64_t b) {
    return a & b;
}
TESSERA_WIDE int64_t tessera_i64_bitor(int64_t a, int64_t b) {
    return a | b;
}
TESSERA_WIDE int64_t tessera_i64_bitxor(int64_t a, int64_t b) {
    return a ^ b;
}
TESSERA_WIDE int64_t tessera_i64_bitnot(int64_t a) {
    return ~a;
}
TESSERA_WIDE int64_t tessera_i64_shift_left(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}
TESSERA_WIDE int64_t tessera_i64_shift_right(int64_t a, int64_t b) {
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a >> b);
}
TESSERA_WIDE int64_t tessera_i64_saturated(int64_t a, int64_t low, int64_t high) {
    return a < low ? low : a > high ? high : a;
}
TESSERA_WIDE int64_t tessera_i64_sum(int64_t a, int64_t b) {
    return tessera_i64_add(a, b);
}
TESSERA_WIDE int64_t tessera_i64_prod(int64_t a, int64_t b) {
    return tessera_i64_mul(a, b);
}

TESSERA_WIDE int tessera_i64_less(int64_t a, int64_t b) {
    return a < b;
}
TESSERA_WIDE int tessera_i64_less_equal(int64_t a, int64_t b) {
    return a <= b;
}
TESSERA_WIDE int tessera_i64_greater(int64_t a, int64_t b) {
    return a > b;
}
TESSERA_WIDE int tessera_i64_greater_equal(int64_t a, int64_t b) {
    return a >= b;
}
TESSERA_WIDE int tessera_i64_equal(int64_t a, int64_t b) {
    return a == b;
}
TESSERA_WIDE int tessera_i64_not_equal(int64_t a, int64_t b) {
    return a != b;
}

/* Doubles. NaN is the least and the largest of all. */

TESSERA_WIDE double tessera_f64_min(double a, double b) {
    return a != a || a < b ? a : b != b || b < a ? b : a;
}
TESSERA_WIDE double tessera_f64_max(double a, double b) {
    return a != a || a > b ? a : b != b || b > a ? b : a;
}
TESSERA_WIDE double tessera_f64_sum(double a, double b) {
    return a + b;
}
TESSERA_WIDE double tessera_f64_prod(double a, double b) {
    return a * b;
}
TESSERA_WIDE double tessera_f64_neg(double a) {
    return -a;
}
TESSERA_WIDE double tessera_f64_abs(double a) {
    return fabs(a);
}
TESSERA_WIDE double tessera_f64_mod(double a, double b) {
    const double rest = fmod(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysign(0.0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}
TESSERA_WIDE double tessera_f64_div(double a, double b) {
    double quotient, whole;
    if (b == 0) return a / b;
    const double rest = fmod(a, b);
    quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    /* The division may have rounded below the integer. */
    whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}
TESSERA_WIDE double tessera_f64_round(double a) {
    return nearbyint(a);
}
TESSERA_WIDE double tessera_f64_pow(double a, double b) {
    return pow(a, b);
}
TESSERA_WIDE double tessera_f64_exp(double a) {
    return exp(a);
}
TESSERA_WIDE double tessera_f64_log(double a) {
    return log(a);
}
TESSERA_WIDE double tessera_f64_sqrt(double a) {
    return sqrt(a);
}
TESSERA_WIDE double tessera_f64_rsqrt(double a) {
    return 1 / sqrt(a);
}
TESSERA_WIDE double tessera_f64_tanh(double a) {
    return tanh(a);
}
TESSERA_WIDE double tessera_f64_erf(double a) {
    return erf(a);
}
TESSERA_WIDE double tessera_f64_sin(double a) {
    return sin(a);
}
TESSERA_WIDE double tessera_f64_cos(double a) {
    return cos(a);
}
TESSERA_WIDE double tessera_f64_tan(double a) {
    return tan(a);
}
TESSERA_WIDE double tessera_f64_asin(double a) {
    return asin(a);
}
TESSERA_WIDE double tessera_f64_acos(double a) {
    return acos(a);
}
TESSERA_WIDE double tessera_f64_atan(double a) {
    return atan(a);
}
TESSERA_WIDE double tessera_f64_sinh(double a) {
    return sinh(a);
}
TESSERA_WIDE double tessera_f64_cosh(double a) {
    return cosh(a);
}
TESSERA_WIDE double tessera_f64_asinh(double a) {
    return asinh(a);
}
TESSERA_WIDE double tessera_f64_acosh(double a) {
    return acosh(a);
}
TESSERA_WIDE double tessera_f64_atanh(double a) {
    return atanh(a);
}
TESSERA_WIDE double tessera_f64_sigmoid(double a) {
    return 1 / (1 + exp(-a));
}
/* The number as an integer of a type with these ends: the fraction is dropped, NaN becomes 0. */
TESSERA_WIDE int64_t tessera_f64_integer(double a, int64_t low, int64_t high) {
    if (a != a) return 0;
    return a <= (double)low ? low : a >= (double)high ? high : (int64_t)a;
}
/* The same as a number; NaN stays. */
TESSERA_WIDE double tessera_f64_saturated(double a, int64_t low, int64_t high) {
    return a != a ? a : a <= (double)low ? (double)low : a >= (double)high ? (double)high : trunc(a) + 0.0;
}
TESSERA_WIDE int tessera_f64_less(double a, double b) {
    return a < b;
}
TESSERA_WIDE int tessera_f64_less_equal(double a, double b) {
    return a <= b;
}
TESSERA_WIDE int tessera_f64_greater(double a, double b) {
    return a > b;
}
TESSERA_WIDE int tessera_f64_greater_equal(double a, double b) {
    return a >= b;
}
TESSERA_WIDE int tessera_f64_equal(double a, double b) {
    return a == b;
}
TESSERA_WIDE int tessera_f64_not_equal(double a, double b) {
    return a != b;
}
