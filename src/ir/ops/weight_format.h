#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/element_type.h"

/// How a weight [N, K] is stored, as operands of a definition. A float weight is one operand; a quantised one
/// is several, and its value is an expression in them. This is the only place that states a format: operators
/// that read a weight take the format and print its text. Source: ggml, "k-quants" and block formats
/// (ggml-common.h, ggml-quants.c: reference dequantisation).
namespace tessera::ops {

enum class WeightFormat : uint8_t {
    kF32,
    kF16,
    kBF16,
    kQ8_0,
    kQ4_0,
    kQ4_1,
    kQ5_0,
    kQ5_1,
    kQ2_K,
    kQ3_K,
    kQ4_K,
    kQ5_K,
    kQ6_K,
    kIQ4_NL,
    kMXFP4,
    kInt4,  ///< of packed folders, as PackedWeights (import/hf) lays it out
};

/// One operand of a weight: elements [n, k div block].
struct WeightOperand {
    std::string_view name;  ///< in definitions, and behind the weight's name in graphs: "q", "dmin"
    ElementType type;
    int64_t block = 1;  ///< neighbours along k that share one element
};

struct WeightFormatInfo {
    WeightFormat format;
    std::string_view name;                    ///< as ggml prints it: "Q4_K"
    std::span<const WeightOperand> operands;  ///< the first one has an element for each of the weight
    int64_t block;                            ///< K is a multiple of it
    std::string_view value;                   ///< in the names of the operands; empty for one operand
};

const WeightFormatInfo& info(WeightFormat format);
/// Empty for a name that no format has.
std::optional<WeightFormat> weight_format_of(std::string_view name);
/// The format of a weight that is one operand; empty for integers.
std::optional<WeightFormat> weight_format_of(ElementType type);
/// "F32, F16, .., INT4".
std::string known_weight_formats();

/// The type of a weight that is one operand; empty for a quantised one.
std::optional<ElementType> element_of(WeightFormat format);

/// A weight in the text of a definition.
struct WeightText {
    std::string operands;  ///< lines "in  q u4[n, k]"
    std::string value;     ///< in parentheses where it is more than a name
};

/// `name`: the operand's name, where there is only one. `row` and `k`: the map. `rows` is the extent of the
/// first axis where the map does not show it (`row` is indirect), else 0.
/// @throws Error if `inputs`, the extent of k, is no multiple of the block.
WeightText weight_text(WeightFormat format, std::string_view name, std::string_view row, std::string_view k,
                       int64_t inputs, int64_t rows = 0);

}  // namespace tessera::ops
