#pragma once

#include "import/onnx/call.h"

namespace tessera::import::onnx {

/// The convolution of x, [n, c, ...], with w, [m, c / group, ...], by the attributes of the call, without a
/// bias.
Operand convolution(const Call& call, const Operand& x, const Operand& w, DataType type);
/// Plus a bias of each channel.
Operand with_bias(const Call& call, const Operand& y, const Operand& bias);

}  // namespace tessera::import::onnx
