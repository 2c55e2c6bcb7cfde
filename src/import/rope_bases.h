#pragma once

#include "import/model_config.h"

namespace tessera::import {

/// Gives rotary tables the bases that the text says for them (`base E`). Where these differ by layer there
/// are tables for each of them, which the layers read by names of their own; a layer whose base is 0 rotates
/// nothing.
/// @throws Error if a base is none
void set_rope_bases(ModelConfig& config);

/// All tables of a model, those of the text in its order first.
std::vector<std::string> rope_names(const ModelConfig& config);

}  // namespace tessera::import
