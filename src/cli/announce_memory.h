#pragma once

#include "llm/session.h"

namespace tessera::cli {

/// One line on stderr: what running the model will take, before it is loaded.
void announce_memory(const Manifest& manifest, const SessionOptions& options);

}  // namespace tessera::cli
