#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "run/runtime/artefact.h"
#include "tessera/bench.h"

namespace tessera::benchmark {

/// `tessera::bench` on artefacts. `features`: those of this CPU (machine/probe.h).
std::vector<BenchCase> run_bench(std::span<const std::shared_ptr<const runtime::Artefact>> artefacts,
                                 const std::set<std::string>& features, const BenchSettings& settings);

}  // namespace tessera::benchmark
