#pragma once

#include <vector>

#include "import/onnx/operator_text.h"

namespace tessera::import::onnx {

/// The operator that reads x, row-major, in another shape of as many elements. Axes that go on as they are
/// keep their coordinate; only those that are joined or split are divided.
/// @pre no extent is 0
/// @throws Error where a symbolic extent is joined or split that is not the outermost
OperatorText reshape_text(const Operand& x, const std::vector<Dim>& shape);

}  // namespace tessera::import::onnx
