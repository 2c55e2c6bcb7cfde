#pragma once

#include <string_view>

#include "import/onnx/call.h"

namespace tessera::import::onnx {

inline constexpr int64_t kNewestOpset = 27;

/// The operator in the meaning that it has in a version of the operator set; null if it is not supported.
const Operator* find_operator(std::string_view domain, std::string_view name, int64_t opset);

}  // namespace tessera::import::onnx
