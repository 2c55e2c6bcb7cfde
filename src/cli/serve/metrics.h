#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tessera/engine.h"

namespace tessera::serve {

/// The counts in the text format of Prometheus. `replies`: answers of HTTP by status.
std::string metrics(const EngineStatistics& counts, const std::map<int, int64_t>& replies);

}  // namespace tessera::serve
