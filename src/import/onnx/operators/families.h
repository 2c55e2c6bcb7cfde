#pragma once

#include <span>
#include <string_view>

#include "import/onnx/call.h"

/// The operators, a file for each family.
namespace tessera::import::onnx {

/// The domain of operators that onnxruntime makes of others, and its tools write into models.
inline constexpr std::string_view kMicrosoft = "com.microsoft";

std::span<const Operator> activations();
std::span<const Operator> arithmetic();
std::span<const Operator> attention();
std::span<const Operator> comparisons();
std::span<const Operator> convolutions();
std::span<const Operator> gathers();
std::span<const Operator> microsoft_attention();
std::span<const Operator> normalisations();
std::span<const Operator> padding();
std::span<const Operator> pooling();
std::span<const Operator> products();
std::span<const Operator> quantised();
std::span<const Operator> recurrent();
std::span<const Operator> reductions();
std::span<const Operator> resizing();
std::span<const Operator> selections();
std::span<const Operator> shapes();
std::span<const Operator> constants();

}  // namespace tessera::import::onnx
