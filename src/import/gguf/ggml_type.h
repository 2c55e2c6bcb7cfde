#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::import {

/// Element types of tensors in a GGUF file, with the numbers of the format. All are known by name and size,
/// so that a file in a type that Tessera cannot compute with is read, and its type named. Source: the GGUF
/// specification of the ggml project (docs/gguf.md) and its enum ggml_type.
enum class GgmlType : uint32_t {
    kF32 = 0,
    kF16 = 1,
    kQ4_0 = 2,
    kQ4_1 = 3,
    kQ5_0 = 6,
    kQ5_1 = 7,
    kQ8_0 = 8,
    kQ8_1 = 9,
    kQ2_K = 10,
    kQ3_K = 11,
    kQ4_K = 12,
    kQ5_K = 13,
    kQ6_K = 14,
    kQ8_K = 15,
    kIQ2_XXS = 16,
    kIQ2_XS = 17,
    kIQ3_XXS = 18,
    kIQ1_S = 19,
    kIQ4_NL = 20,
    kIQ3_S = 21,
    kIQ2_S = 22,
    kIQ4_XS = 23,
    kI8 = 24,
    kI16 = 25,
    kI32 = 26,
    kI64 = 27,
    kF64 = 28,
    kIQ1_M = 29,
    kBF16 = 30,
    kTQ1_0 = 34,
    kTQ2_0 = 35,
    kMXFP4 = 39,
    kNVFP4 = 40,
    kQ1_0 = 41,
    kQ2_0 = 42,
};

/// How a type is stored: consecutive blocks along the innermost dimension, each of a fixed number of elements
/// and bytes.
struct GgmlTypeInfo {
    GgmlType type;
    std::string_view name;    ///< as ggml prints it, for example "Q4_K"
    uint32_t block_elements;  ///< the innermost dimension is a multiple of it
    uint32_t block_bytes;
};

const GgmlTypeInfo& info(GgmlType type);

/// Empty for numbers that no type has, and for types that ggml has withdrawn (4, 5, 31-33, 36-38).
std::optional<GgmlType> ggml_type_of(uint32_t number);

}  // namespace tessera::import
