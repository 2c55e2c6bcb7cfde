#pragma once

#include <string>

#include "import/checkpoint.h"
#include "import/decoder.h"

namespace tessera::import {

/// What the layers of a checkpoint are made of: each tensor that its configuration demands is looked up, and
/// its shape and type compared. What is missing, unsupported or left over goes to the findings.
/// @pre the checkpoint has a configuration and weights.
DecoderSpec resolve_tensors(Checkpoint& checkpoint, const std::string& name);

}  // namespace tessera::import
