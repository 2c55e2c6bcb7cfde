#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ops/weight_format.h"

/// What a model's activations and its cache may be rounded to (docs/types.md).
namespace tessera {

enum class Policy : uint8_t {
    kDefault,  ///< activations that only products read may have the weights' type
    kExact,    ///< activations are F32
};

std::string_view name(Policy policy);  ///< "default", "exact"
std::optional<Policy> policy_of(std::string_view name);

/// The type of an activation that only these weights are multiplied with: theirs, where the policy allows it
/// and all have one float type of 16 bits; else F32.
ElementType activation_type(Policy policy, std::span<const ops::WeightFormat> readers);

/// The type of a cache where none is asked for: F32 under `exact`, else that of the weights that make the
/// keys and values, `makers`; F16 where one is quantised, F32 where float types differ.
ElementType cache_type(Policy policy, std::span<const ops::WeightFormat> makers);

}  // namespace tessera
