#pragma once

#include <optional>

#include "import/decoder_config.h"
#include "import/findings.h"
#include "import/gguf/gguf_file.h"

namespace tessera::import {

/// Reads the settings of a model from the metadata of a GGUF file. Those that Tessera cannot compute go to
/// the findings, all of them; the configuration is empty if the architecture is one of them. `embedding`, the
/// tensor that gives the size of the vocabulary, may lie in another part of the model; null if there is none.
/// @throws Error for a key that is missing, of another type or out of its range.
std::optional<DecoderConfig> read_gguf_config(const GgufFile& file, const GgufTensor* embedding,
                                              Findings& findings);

}  // namespace tessera::import
