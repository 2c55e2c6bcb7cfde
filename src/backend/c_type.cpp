#include "backend/c_type.h"

namespace tessera::backend {

std::string_view c_type(ElementType type) {
    switch (type) {
        case ElementType::kF64:
            return "double";
        case ElementType::kF32:
            return "float";
        case ElementType::kI64:
            return "int64_t";
        case ElementType::kI32:
            return "int32_t";
        case ElementType::kI16:
            return "int16_t";
        case ElementType::kI8:
        case ElementType::kBool:
            return "int8_t";
        case ElementType::kU64:
            return "uint64_t";
        case ElementType::kU32:
            return "uint32_t";
        case ElementType::kU16:
            return "uint16_t";
        case ElementType::kU8:
            return "uint8_t";
        default:
            return "";
    }
}

}  // namespace tessera::backend
