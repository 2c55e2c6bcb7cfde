#pragma once

#include <optional>
#include <string>

#include "import/onnx/tensor_type.h"

namespace tessera::import::onnx {

/// A float of 8 bits or less: a sign, an exponent and a mantissa. Source: "Float stored in 8 bits", "Float
/// stored in 4 bits" of ONNX's documentation; OCP Microscaling Formats 1.0 for E8M0 and E2M1.
struct NarrowFloat {
    int exponent_bits = 0;
    int mantissa_bits = 0;
    int bias = 0;
    double largest = 0;  ///< finite
    bool has_infinity = false;
    bool has_nan = true;        ///< else it becomes 0
    bool has_one_zero = false;  ///< the pattern of -0 is NaN
    bool is_power = false;      ///< E8M0: no sign, no zero, powers of two
};

std::optional<NarrowFloat> narrow_float(DataType type);
/// The number of a pattern of bits.
double number_of(const NarrowFloat& type, int pattern);
/// The number `x` of the notation of operators, rounded to the type, to even. Too large numbers become the
/// largest if it `saturates`, else infinite, or NaN where there is no infinity. @pre no E8M0
std::string rounded_text(const NarrowFloat& type, const std::string& x, bool saturates);

}  // namespace tessera::import::onnx
