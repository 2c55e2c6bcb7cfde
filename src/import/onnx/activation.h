#pragma once

#include "import/onnx/call.h"

namespace tessera::import::onnx {

/// The activation that onnxruntime has made a part of another operator, by the attributes `activation` and
/// `activation_params`, or `activation_alpha` and `activation_beta`. Without the first: y itself.
Operand fused_activation(const Call& call, const Operand& y);

}  // namespace tessera::import::onnx
