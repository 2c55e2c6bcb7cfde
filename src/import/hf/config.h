#pragma once

#include <optional>
#include <string>

#include "import/architecture/architectures.h"
#include "import/findings.h"
#include "import/model_config.h"

namespace tessera::import {

/// Reads config.json of a HuggingFace model, and generation_config.json beside it for the tokens that end a
/// text, as the text of its architecture says. Settings that Tessera cannot compute go to the findings, all
/// of them; the configuration is empty if the architecture is one of them.
/// @throws Error for a file that is no configuration: a field that is missing, of another type or out of its
/// range.
std::optional<ModelConfig> read_hf_config(const std::string& path, const Architectures& known,
                                          Findings& findings);

}  // namespace tessera::import
