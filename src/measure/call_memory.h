#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "tessera/step.h"

namespace tessera::measure {

/// Tensors of one call of a graph whose extents are constant, each on lines of its own: inputs that are near,
/// results, and the arena. All numbers are ordinary ones (denormals would be slow), all indices 0.
class CallMemory {
public:
    CallMemory(const Graph& graph, int64_t arena_bytes);

    TesseraStep step(const char* constants);
    /// Contents of an index input, by its position among the inputs. @pre that many elements are int32
    int32_t* index_input(size_t position) { return reinterpret_cast<int32_t*>(inputs_[position].data()); }

private:
    struct alignas(64) Line {
        uint32_t words[16];
    };
    using Tensor = std::vector<Line>;
    static Tensor tensor_of(const Value& value, int64_t repetitions);

    std::vector<Tensor> inputs_, outputs_, states_;
    Tensor arena_;
    std::vector<const void*> input_addresses_;
    std::vector<void*> output_addresses_;
    std::vector<unsigned char*> state_addresses_;
};

}  // namespace tessera::measure
