#pragma once

#include <optional>

#include "import/architecture/architectures.h"
#include "import/findings.h"
#include "import/gguf/gguf_parts.h"
#include "import/model_config.h"

namespace tessera::import {

/// Reads the settings of a model from the metadata of a GGUF file, as the text of its architecture says.
/// Those that Tessera cannot compute go to the findings, all of them; the configuration is empty if the
/// architecture is one of them. The embedding, which gives the size of the vocabulary, may lie in any of the
/// parts.
/// @throws Error for a key that is missing, of another type or out of its range.
std::optional<ModelConfig> read_gguf_config(const GgufFile& file, const GgufParts& parts,
                                            const Architectures& known, Findings& findings);

}  // namespace tessera::import
