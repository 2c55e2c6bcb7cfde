#pragma once

#include "import/onnx/import_onnx.h"
#include "tessera/compile.h"

namespace tessera::compiler {

[[nodiscard]] import::onnx::ImportOptions import_options(const OnnxSettings& settings);

}  // namespace tessera::compiler
