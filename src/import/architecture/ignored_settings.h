#pragma once

#include "import/architecture/read_settings.h"

namespace tessera::import {

/// Ignores what the text says has no effect, and refuses what says something else than the value that has
/// none.
void ignore_settings(SettingsFile& file, const ModelConfig& config);

}  // namespace tessera::import
