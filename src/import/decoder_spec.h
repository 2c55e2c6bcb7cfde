#pragma once

#include <string>

#include "import/checkpoint.h"
#include "import/decoder.h"

namespace tessera::import {

/// The layers of a checkpoint: each tensor that its configuration demands is looked up, and its shape and
/// type compared. Tensors that are missing, unsupported or left over go to the findings.
/// @pre the checkpoint has a configuration and weights.
DecoderSpec resolve_tensors(Checkpoint& checkpoint, const std::string& name);

}  // namespace tessera::import
