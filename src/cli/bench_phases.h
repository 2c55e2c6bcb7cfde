#pragma once

#include <span>
#include <string>

#include "cli/bench_report.h"

namespace tessera::cli {

/// A table for each case whose phases were timed: kernels, barriers and exchanges between ranks, measured and
/// predicted, and how far these are apart.
std::string bench_phases(std::span<const BenchedModel> models, std::span<const BenchCase> cases);

}  // namespace tessera::cli
