// Functions of each element: arithmetic, trigonometry, bits.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "import/onnx/operators/families.h"
#include "import/onnx/primitives.h"

namespace tessera::import::onnx {
namespace {

using Results = std::vector<Operand>;

template <size_t N>
struct Text {
    char text[N];
    consteval Text(const char (&from)[N]) { std::copy_n(from, N, text); }  // NOLINT: a literal is one
};

/// A function of one element, of floats and integers alike.
template <Text kBody>
Results unary(const Call& call) {
    return {elementwise(call, {call.in(0)}, wrapped(kBody.text, call.in(0).type))};
}

template <Text kBody>
Results binary(const Call& call) {
    return {elementwise(call, both_inputs(call), wrapped(kBody.text, call.in(0).type))};
}

/// Towards zero; by 0 it is 0, which ONNX leaves open.
Results divide(const Call& call) {
    if (!is_integer(call.in(0).type)) return binary<"A / B">(call);
    return {elementwise(
        call, both_inputs(call),
        wrapped("select(B == 0, 0, select((A < 0) == (B < 0), A div B, -(-A div B)))", call.in(0).type))};
}

Results modulo(const Call& call) {
    const std::vector<Operand> operands = both_inputs(call);
    const bool has_sign_of_dividend = call.integer("fmod", 0) != 0;
    const DataType type = call.in(0).type;
    if (has_sign_of_dividend)
        return {elementwise(call, operands, wrapped("select(A < 0, -(-A mod abs(B)), A mod abs(B))", type))};
    call.expect(is_integer(type), fmt::format("takes the rest of {} without `fmod`", name(type)));
    return {elementwise(call, operands, wrapped("select(B == 0, 0, A mod B)", type))};
}

/// The result has the type of the base.
Results power(const Call& call) {
    const DataType type = call.in(0).type;
    const std::vector<Operand> operands = beside_each_other(call, call.in(0), call.in(1));
    const Operand &base = operands[0], &exponent = operands[1];
    if (exponent.known && exponent.elements() == 1 && !is_integer(type)) {
        const double e = numbers_of(exponent).front();
        if (exponent.rank() <= base.rank()) {
            if (e == 2) return {elementwise(call, {base}, "A * A")};
            if (e == 3) return {elementwise(call, {base}, "A * A * A")};
            if (e == 0.5) return {elementwise(call, {base}, "sqrt(A)")};
            if (e == 1) return {elementwise(call, {base}, "A")};
        }
    }
    if (is_integer(type)) {
        // By way of floats of 64 bits, exact as far as these are.
        const Operand real = elementwise(call, {base, exponent}, "pow(A, B)", DataType::kDouble);
        return {cast(call, real, type)};
    }
    return {elementwise(call, {base, exponent}, "pow(A, B)", type)};
}

/// Whole floats are whole already from 2^52 on.
constexpr const char* kFloor = "select(abs(A) < 4503599627370496, A div 1, A)";
constexpr const char* kCeiling = "select(abs(A) < 4503599627370496, -(-A div 1), A)";

Results floor_of(const Call& call) {
    return {elementwise(call, {call.in(0)}, kFloor)};
}

Results ceiling_of(const Call& call) {
    return {elementwise(call, {call.in(0)}, kCeiling)};
}

Results sign_of(const Call& call) {
    return {elementwise(call, {call.in(0)}, "select(A > 0, 1, select(A < 0, -1, A))")};
}

/// A fold of any number of inputs, pair by pair.
template <Text kBody>
Results variadic(const Call& call) {
    std::vector<Operand> all = call.all();
    call.expect(!all.empty(), "has no inputs");
    Operand result = all.front();
    for (size_t i = 1; i < all.size(); ++i)
        result = elementwise(call, {result, all[i]}, wrapped(kBody.text, all.front().type));
    return {result};
}

Results mean_of_inputs(const Call& call) {
    const Results sum = variadic<"A + B">(call);
    return {elementwise(call, {sum.front()}, fmt::format("A / {}.0", call.inputs()))};
}

Results bitwise_not(const Call& call) {
    return {elementwise(call, {call.in(0)}, wrapped("bitnot(A)", call.in(0).type))};
}

Results bit_shift(const Call& call) {
    const std::vector<Operand> operands = both_inputs(call);
    const std::string direction = call.text("direction", "");
    call.expect(direction == "LEFT" || direction == "RIGHT",
                fmt::format("shifts to \"{}\", expected LEFT or RIGHT", direction));
    return {elementwise(
        call, operands,
        wrapped(direction == "LEFT" ? "shift_left(A, B)" : "shift_right(A, B)", call.in(0).type))};
}

}  // namespace

std::span<const Operator> arithmetic() {
    static constexpr std::array kOperators = {
        Operator{"Abs", unary<"abs(A)">},
        Operator{"Acos", unary<"acos(A)">},
        Operator{"Acosh", unary<"acosh(A)">},
        Operator{"Add", binary<"A + B">},
        Operator{"Asin", unary<"asin(A)">},
        Operator{"Asinh", unary<"asinh(A)">},
        Operator{"Atan", unary<"atan(A)">},
        Operator{"Atanh", unary<"atanh(A)">},
        Operator{"BitShift", bit_shift},
        Operator{"BitwiseAnd", binary<"bitand(A, B)">},
        Operator{"BitwiseNot", bitwise_not},
        Operator{"BitwiseOr", binary<"bitor(A, B)">},
        Operator{"BitwiseXor", binary<"bitxor(A, B)">},
        Operator{"Ceil", ceiling_of},
        Operator{"Cos", unary<"cos(A)">},
        Operator{"Cosh", unary<"cosh(A)">},
        Operator{"Div", divide},
        Operator{"Erf", unary<"erf(A)">},
        Operator{"Exp", unary<"exp(A)">},
        Operator{"Floor", floor_of},
        Operator{"Log", unary<"log(A)">},
        Operator{"Max", variadic<"max(A, B)">},
        Operator{"Mean", mean_of_inputs},
        Operator{"Min", variadic<"min(A, B)">},
        Operator{"Mod", modulo},
        Operator{"Mul", binary<"A * B">},
        Operator{"Neg", unary<"-A">},
        Operator{"Pow", power},
        Operator{"Reciprocal", unary<"1 / A">},
        Operator{"Round", unary<"round(A)">},
        Operator{"Sign", sign_of},
        Operator{"Sin", unary<"sin(A)">},
        Operator{"Sinh", unary<"sinh(A)">},
        Operator{"Sqrt", unary<"sqrt(A)">},
        Operator{"Sub", binary<"A - B">},
        Operator{"Sum", variadic<"A + B">},
        Operator{"Tan", unary<"tan(A)">},
        Operator{"Tanh", unary<"tanh(A)">},
    };
    return kOperators;
}

}  // namespace tessera::import::onnx
