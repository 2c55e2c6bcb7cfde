#pragma once

#include "import/hf/settings.h"
#include "import/rope_tables.h"

namespace tessera::import {

/// Reads `rope_theta`, and the scaling in `rope_scaling` or `rope_parameters`; a scaling that is not
/// supported goes to the findings.
RopeConfig read_rope(HfSettings& settings);

}  // namespace tessera::import
