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

/// The work of one step. Derived from the definitions (ir/facts/work.h, ir/facts/touched.h) at these sizes
/// and index inputs: in a causal prefill only iterations below the diagonal count, in the cache only the
/// pages of the sequence. An index that an operator computes may be any; the tensor that it indexes then
/// counts whole.
/// @throws Error on overflow.
StepWork step_work(const Graph& graph, const std::map<std::string, int64_t>& symbols,
                   const InputContents& inputs);

}  // namespace tessera::benchmark
