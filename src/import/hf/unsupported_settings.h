#pragma once

#include "import/hf/settings.h"

namespace tessera::import {

/// Refuses each setting that changes the computation of a decoder in a way that the architecture, which has
/// read its own settings, does not have.
void refuse_unsupported_settings(HfSettings& settings);

/// Called after everything has been read: the settings that were never asked for are harmless, or go to the
/// findings.
void account_for_rest(const HfSettings& settings, Findings& findings);

}  // namespace tessera::import
