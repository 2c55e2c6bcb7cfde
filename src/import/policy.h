#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/ops/matmul.h"

/// The permitted rounding of a model's activations and its cache (docs/types.md).
namespace tessera::import {

enum class Policy : uint8_t {
    kDefault,  ///< activations that only products read may be rounded as the weights are
    kExact,    ///< activations are F32
    kFast,     ///< activations that quantised weights multiply may be rounded further, to 8 bits
};

std::string_view name(Policy policy);  ///< "default", "exact", "fast"
std::optional<Policy> policy_of(std::string_view name);

/// The form of an activation of `width` numbers that only these weights multiply. If the policy allows it:
/// their type if all have one float type; blocks of integers if all are quantised, of 8 bits under `fast`, of
/// 13 if all have blocks of 256, else of 15; else F32.
ops::Activation activation_of(Policy policy, std::span<const ops::WeightFormat> readers, int64_t width);

/// A type that a cache may have: "f32", "f16", "bf16", "q8_0"; empty for any other text.
std::optional<ops::WeightFormat> cache_type_of(std::string_view name);

/// The type of a cache where none is asked for: F32 under `exact`, else that of the weights that make the
/// keys and values, `makers`; BF16 where one is quantised, F32 where float types differ.
ops::WeightFormat cache_type(Policy policy, std::span<const ops::WeightFormat> makers);

}  // namespace tessera::import
