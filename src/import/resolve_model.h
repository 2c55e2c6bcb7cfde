#pragma once

#include <string>

#include "import/checkpoint.h"
#include "import/model_spec.h"

namespace tessera::import {

/// The model that a checkpoint is: each tensor that its text demands is looked up, and its shape and type
/// compared. Tensors that are missing, unsupported or left over go to the findings.
/// @pre the checkpoint has a configuration, parts and weights
ModelSpec resolve_model(Checkpoint& checkpoint, const std::string& name);

/// The same of settings alone: all weights have this format.
ModelSpec assume_model(const ModelConfig& config, const std::string& name, ops::WeightFormat format);

}  // namespace tessera::import
