#pragma once

#include "import/hf/settings.h"

namespace tessera::import {

/// Refuses each setting that changes the computation of a decoder in a way that no supported architecture
/// has.
void refuse_unsupported_settings(HfSettings& settings);

/// After everything has been read: what nobody has asked for is harmless, or goes to the findings.
void account_for_rest(const HfSettings& settings, Findings& findings);

}  // namespace tessera::import
