#pragma once

#include "import/onnx/import_onnx.h"
#include "tessera/compile.h"

namespace tessera::compiler {

import::onnx::ImportOptions import_options(const OnnxSettings& onnx);

}  // namespace tessera::compiler
