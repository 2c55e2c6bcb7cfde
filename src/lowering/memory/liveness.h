#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/movement/program.h"

namespace tessera::memory {

/// A buffer of the arena. Bytes; alive in kernels [first, last) in the order of execution.
struct LiveBuffer {
    std::string value;
    int64_t bytes = 0;
    int64_t first = 0;
    int64_t last = 0;
    bool operator==(const LiveBuffer&) const = default;
};

/// The kernels in which each arena buffer of a lowered program is alive. A buffer that crosses the border of
/// a repeated block is alive in all of it; one that lies inside is made anew by every repetition. With
/// several workers a buffer is alive in whole phases: while one worker still reads it, another may be kernels
/// ahead.
std::vector<LiveBuffer> liveness(const Graph& graph, const movement::Program& program);

}  // namespace tessera::memory
