#pragma once

#include <optional>

#include "import/findings.h"
#include "import/hf/settings.h"
#include "import/packed_form.h"

namespace tessera::import {

/// Reads `quantization_config`, or where config.json has none the file that AutoGPTQ or AutoAWQ writes beside
/// it, quantize_config.json or quant_config.json; refuses what cannot be read without rounding.
std::optional<PackedForm> read_quantisation(HfSettings& settings, Findings& findings);

}  // namespace tessera::import
