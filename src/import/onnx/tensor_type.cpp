#include "import/onnx/tensor_type.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace tessera::import::onnx {
namespace {

struct DataTypeFacts {
    DataType type;
    std::string_view name;
    int bits;
    std::optional<ElementType> element;
};

constexpr std::array kDataTypes = {
    DataTypeFacts{DataType::kFloat, "FLOAT", 32, ElementType::kF32},
    DataTypeFacts{DataType::kUint8, "UINT8", 8, ElementType::kU8},
    DataTypeFacts{DataType::kInt8, "INT8", 8, ElementType::kI8},
    DataTypeFacts{DataType::kUint16, "UINT16", 16, ElementType::kU16},
    DataTypeFacts{DataType::kInt16, "INT16", 16, ElementType::kI16},
    DataTypeFacts{DataType::kInt32, "INT32", 32, ElementType::kI32},
    DataTypeFacts{DataType::kInt64, "INT64", 64, ElementType::kI64},
    DataTypeFacts{DataType::kString, "STRING", 0, std::nullopt},
    DataTypeFacts{DataType::kBool, "BOOL", 8, ElementType::kBool},
    DataTypeFacts{DataType::kFloat16, "FLOAT16", 16, ElementType::kF16},
    DataTypeFacts{DataType::kDouble, "DOUBLE", 64, ElementType::kF64},
    DataTypeFacts{DataType::kUint32, "UINT32", 32, ElementType::kU32},
    DataTypeFacts{DataType::kUint64, "UINT64", 64, ElementType::kU64},
    DataTypeFacts{DataType::kComplex64, "COMPLEX64", 64, std::nullopt},
    DataTypeFacts{DataType::kComplex128, "COMPLEX128", 128, std::nullopt},
    DataTypeFacts{DataType::kBfloat16, "BFLOAT16", 16, ElementType::kBF16},
    DataTypeFacts{DataType::kFloat8E4M3FN, "FLOAT8E4M3FN", 8, ElementType::kF32},
    DataTypeFacts{DataType::kFloat8E4M3FNUZ, "FLOAT8E4M3FNUZ", 8, ElementType::kF32},
    DataTypeFacts{DataType::kFloat8E5M2, "FLOAT8E5M2", 8, ElementType::kF32},
    DataTypeFacts{DataType::kFloat8E5M2FNUZ, "FLOAT8E5M2FNUZ", 8, ElementType::kF32},
    DataTypeFacts{DataType::kUint4, "UINT4", 4, ElementType::kU8},
    DataTypeFacts{DataType::kInt4, "INT4", 4, ElementType::kI8},
    DataTypeFacts{DataType::kFloat4E2M1, "FLOAT4E2M1", 4, ElementType::kF32},
    DataTypeFacts{DataType::kFloat8E8M0, "FLOAT8E8M0", 8, ElementType::kF32},
    DataTypeFacts{DataType::kUint2, "UINT2", 2, ElementType::kU8},
    DataTypeFacts{DataType::kInt2, "INT2", 2, ElementType::kI8},
};

const DataTypeFacts* facts_of(DataType type) {
    const auto* found = std::ranges::find(kDataTypes, type, &DataTypeFacts::type);
    return found == kDataTypes.end() ? nullptr : found;
}

}  // namespace

std::string name(DataType type) {
    const DataTypeFacts* facts = facts_of(type);
    return facts ? std::string(facts->name) : fmt::format("data type {}", static_cast<int32_t>(type));
}

int bits(DataType type) {
    const DataTypeFacts* facts = facts_of(type);
    return facts ? facts->bits : 0;
}

std::optional<ElementType> element_of(DataType type) {
    const DataTypeFacts* facts = facts_of(type);
    return facts ? facts->element : std::nullopt;
}

bool is_integer(DataType type) {
    const std::optional<ElementType> element = element_of(type);
    return element && tessera::is_integer(*element);
}

IntegerRange range(DataType type) {
    const IntegerRange held = tessera::range(element_of(type).value());
    if (bits(type) >= 8) return held;
    return held.low < 0
               ? IntegerRange{-(int64_t{1} << (bits(type) - 1)), (int64_t{1} << (bits(type) - 1)) - 1}
               : IntegerRange{0, (int64_t{1} << bits(type)) - 1};
}

}  // namespace tessera::import::onnx
