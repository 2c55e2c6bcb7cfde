#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/element_type.h"

namespace tessera::import::onnx {

/// TensorProto.DataType, by its numbers. Source: onnx.proto of onnx 1.22.
enum class DataType : int32_t {
    kUndefined = 0,
    kFloat = 1,
    kUint8 = 2,
    kInt8 = 3,
    kUint16 = 4,
    kInt16 = 5,
    kInt32 = 6,
    kInt64 = 7,
    kString = 8,
    kBool = 9,
    kFloat16 = 10,
    kDouble = 11,
    kUint32 = 12,
    kUint64 = 13,
    kComplex64 = 14,
    kComplex128 = 15,
    kBfloat16 = 16,
    kFloat8E4M3FN = 17,
    kFloat8E4M3FNUZ = 18,
    kFloat8E5M2 = 19,
    kFloat8E5M2FNUZ = 20,
    kUint4 = 21,
    kInt4 = 22,
    kFloat4E2M1 = 23,
    kFloat8E8M0 = 24,
    kUint2 = 25,
    kInt2 = 26,
};

/// As ONNX spells it, "FLOAT16"; "data type 99" for an unknown number.
std::string name(DataType type);
/// Bits of an element; 0 for strings and unknown types.
int bits(DataType type);
/// The type of the IR that holds it, a wider one for integers of less than a byte and floats of less than 16
/// bits; empty if there is none.
std::optional<ElementType> element_of(DataType type);
bool is_integer(DataType type);
/// Its numbers. @pre is_integer(type)
IntegerRange range(DataType type);

}  // namespace tessera::import::onnx
