#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/ops/elementwise.h"

namespace tessera::import {

/// In `spread`: how far a key stands behind its query; negative before it.
inline constexpr const char* kDistance = "distance";

/// A function of values that a step computes. Those of scalars (evaluate.h) apply to the elements of such
/// values.
struct ValueFunction {
    std::string_view name;
    size_t fewest, most;       ///< arguments
    std::string_view options;  ///< between spaces
};

/// All of them, in the order of docs/architectures.md.
std::span<const ValueFunction> value_functions();
/// Null if there is none.
const ValueFunction* find_value_function(std::string_view name);

/// An activation function by its name in texts: "silu", "gelu", "gelu_tanh", "relu", .. Empty if there is
/// none.
std::optional<ops::ActivationFunction> find_activation(std::string_view name);
/// The name of the function that transformers calls so ("swish" is "silu"); empty for an unknown one.
std::string_view activation_of_transformers(std::string_view name);

}  // namespace tessera::import
