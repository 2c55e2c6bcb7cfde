#pragma once

#include "tessera/model.h"

namespace tessera::cli {

/// One line on stderr: what running the model will take, before it is loaded.
void announce_memory(const ModelFile& file, const ModelSettings& settings);

}  // namespace tessera::cli
