#pragma once

#include <string>
#include <vector>

#include "import/onnx/call.h"

/// The building blocks of ONNX operators. Each is one structured operator, or what is known.
namespace tessera::import::onnx {

/// An operator of the node that is yet to be written.
OperatorText operator_text(const Call& call);
/// "[2, 4 * n]", for messages.
std::string shape_text(const std::vector<Dim>& shape);
/// "x0", "x1", ...
std::string axis_name(size_t axis);
std::vector<std::string> axis_names(size_t rank);
/// The shape that all operands broadcast to. @throws Error for shapes that do not
std::vector<Dim> broadcast_shape(const Call& call, const std::vector<Operand>& operands);
/// Coordinates at which an operand is read for the element `axes` of a broadcast result.
std::vector<std::string> broadcast_coordinates(const Operand& operand, const std::vector<std::string>& axes);

/// Two operands that broadcast. Before opset 7 the attribute `axis` says where the second one stands beside
/// the first.
std::vector<Operand> beside_each_other(const Call& call, const Operand& a, const Operand& b);
/// Both inputs of the call, which have one type, beside each other. @throws Error for others
std::vector<Operand> both_inputs(const Call& call);
/// An element by elements of operands, called A, B, C, ... in `body`, with broadcasting.
Operand elementwise(const Call& call, const std::vector<Operand>& operands, const std::string& body,
                    DataType type);
/// As above, of the type of the first operand.
Operand elementwise(const Call& call, const std::vector<Operand>& operands, const std::string& body);
/// The body of integers of a type that wrap around, as an expression of the type's range.
std::string wrapped(const std::string& body, DataType type);
/// FLOAT for types of 16 bits, in which sums would be rounded; otherwise the type.
DataType sum_type(DataType type);

/// A number as bodies take it.
std::string real_text(double number);
/// x - zero point, of quantised numbers, in 32 bits.
Operand less_zero_point(const Call& call, const Operand& x, const Operand& zero);

/// Folds `value`, such as "sum(X * X)", over these axes (ascending) of X, which keep an extent of 1 or
/// vanish.
Operand reduce(const Call& call, const Operand& x, const std::vector<size_t>& axes, bool keeps,
               const std::string& value, DataType type);
/// How many elements of x such a fold takes, as the text of a float: "12.0", or a multiple of symbols.
std::string count_text(const Operand& x, const std::vector<size_t>& axes);
/// As processors convert. `saturates`: to floats of 8 bits and less, what is too large becomes the largest.
Operand cast(const Call& call, const Operand& x, DataType to, bool saturates = true);
Operand transpose(const Call& call, const Operand& x, const std::vector<size_t>& order);
/// The product over the last two axes, with the others broadcast.
Operand product(const Call& call, const Operand& a, const Operand& b, DataType type);
/// Along one axis, elements begin, begin + step, ...: so many.
struct Range {
    size_t axis;
    LinearForm begin;
    int64_t step;
    Dim count;
};
Range number_range(size_t axis, int64_t begin, int64_t step, int64_t count);
Operand slice(const Call& call, const Operand& x, const std::vector<Range>& ranges);
Operand concat(const Call& call, const std::vector<Operand>& parts, size_t axis);
/// Along an axis the elements that a known table names; -1 where there is 0 instead.
Operand pick(const Call& call, const Operand& x, size_t axis, const std::vector<int64_t>& table);
/// e^x / sum(e^x) along axes.
Operand softmax(const Call& call, const Operand& x, const std::vector<size_t>& axes, bool is_log = false);
Operand expand(const Call& call, const Operand& x, const std::vector<Dim>& shape);
Operand float_scalar(double number);

}  // namespace tessera::import::onnx
