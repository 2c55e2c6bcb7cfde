#pragma once

#include <optional>

#include "import/hf/settings.h"
#include "import/packed_form.h"

namespace tessera::import {

/// Reads `quantization_config`; refuses what cannot be read without rounding.
std::optional<PackedForm> read_quantisation(HfSettings& settings);

}  // namespace tessera::import
