#pragma once

#include <cstdint>
#include <vector>

#include "cost/step_cost.h"
#include "ir/graph.h"
#include "tessera/step.h"

namespace tessera::measure {

/// Tensors of one call of a graph, each on lines of its own: inputs that are near, results, and the arena.
/// All numbers are ordinary ones (denormals would be slow), indices 0 unless they are given.
class CallMemory {
public:
    CallMemory(const Graph& graph, int64_t arena_bytes, const cost::SizePoint& at = {});

    TesseraStep step(const char* constants);

private:
    struct alignas(64) Line {
        uint32_t words[16];
    };
    using Tensor = std::vector<Line>;
    static Tensor tensor_of(const Value& value, int64_t repetitions, const cost::SizePoint& at);

    std::vector<int64_t> symbols_;
    std::vector<Tensor> inputs_, outputs_, states_;
    Tensor arena_;
    std::vector<const void*> input_addresses_;
    std::vector<void*> output_addresses_;
    std::vector<unsigned char*> state_addresses_;
};

}  // namespace tessera::measure
