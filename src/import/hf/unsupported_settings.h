#pragma once

#include <string>
#include <vector>

#include "import/hf/settings.h"

namespace tessera {

/// Refuses each setting that changes the computation of a decoder in a way that no supported architecture
/// has.
void refuse_unsupported_settings(HfSettings& settings);

/// What nobody has read and nobody needs to: fields without an effect on the computation are left out.
std::vector<std::string> unknown_settings(const HfSettings& settings);

}  // namespace tessera
