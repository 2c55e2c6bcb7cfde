#include "ir/checked_arithmetic.h"
#include "ir/integer_value.h"
#include "ir/interpreter.h"

namespace tessera {
namespace {

/// Limit of the contents of a test: 2^28 elements are 2 GiB of float64.
constexpr int64_t kMostElements = int64_t{1} << 28;

/// Element i of tensor n is a function of v = 37 i + 11 n (zoo notation, "Contents and arithmetic").
double operand_element(ElementType type, int64_t v) {
    switch (type) {
        case ElementType::kI8:
        case ElementType::kI16:
        case ElementType::kI32:
        case ElementType::kI64:
            return static_cast<double>(v % 101 - 50);
        case ElementType::kBool:
            return static_cast<double>(v % 2);
        case ElementType::kU64:
        case ElementType::kU32:
        case ElementType::kU16:
        case ElementType::kU8:
            return static_cast<double>(v % 101);
        case ElementType::kU6:
            return static_cast<double>(v % 64);
        case ElementType::kU5:
            return static_cast<double>(v % 32);
        case ElementType::kU4:
            return static_cast<double>(v % 16);
        case ElementType::kU3:
            return static_cast<double>(v % 8);
        case ElementType::kU2:
            return static_cast<double>(v % 4);
        case ElementType::kI4:
            return static_cast<double>(v % 16 - 8);
        case ElementType::kF64:
        case ElementType::kF32:
        case ElementType::kF16:
        case ElementType::kBF16:
            break;
    }
    return round_to(type, static_cast<double>(v % 101) / 101 - 0.5);
}

}  // namespace

TensorData test_contents_of(const DefinitionFile& file, const BoundExtents& extents, int tensor,
                            const std::string& where) {
    const TensorDecl& decl = file.definition.tensors[static_cast<size_t>(tensor)];
    TensorData data{extents.shapes[static_cast<size_t>(tensor)], {}};
    int64_t count = 1;
    for (int64_t extent : data.shape) count = checked_mul(count, extent, where);
    if (count > kMostElements) {
        throw Error(where, decl.name,
                    fmt::format("has {} elements, expected at most {} to fill it", count, kMostElements));
    }
    data.values.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        double& element = data.values[static_cast<size_t>(i)];
        if (decl.role != Role::kIndex) {
            element = operand_element(decl.type, 37 * i + 11 * int64_t{tensor});
            continue;
        }
        const IntegerScope scope{.dims = extents.dims, .iterators = {}, .fill_position = i, .read = nullptr};
        const int64_t filled = integer_value(*file.test.fill.at(decl.name), scope, where);
        const IntegerRange limits = range(decl.type);
        if (filled < limits.low || filled > limits.high) {
            throw Error(where, decl.name,
                        fmt::format("is filled with {} at {}, outside of {}", filled, i, name(decl.type)));
        }
        element = static_cast<double>(filled);
    }
    return data;
}

std::vector<TensorData> test_contents(const DefinitionFile& file, const BoundExtents& extents,
                                      const std::string& where) {
    std::vector<TensorData> contents;
    for (size_t i = 0; i < file.definition.tensors.size(); ++i) {
        contents.push_back(test_contents_of(file, extents, static_cast<int>(i), where));
    }
    return contents;
}

}  // namespace tessera
