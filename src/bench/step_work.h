#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "ir/graph.h"
#include "tessera/bench.h"

namespace tessera::benchmark {

/// Values of the graph's inputs by name, row-major.
using InputContents = std::map<std::string, std::span<const int32_t>>;

/// What one step has to do. Derived from the definitions (facts/work.h, facts/touched.h) at these sizes and
/// index inputs: of a causal prefill what lies below the diagonal counts, of the cache what the pages of the
/// sequence hold. An index that an operator computes may be any; what it selects then counts whole.
/// @throws Error on overflow.
StepWork step_work(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                   const InputContents& inputs);

}  // namespace tessera::benchmark
