#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowering/memory/liveness.h"

namespace tessera::memory {

/// Offsets in one arena. Bytes.
struct MemoryPlan {
    std::map<std::string, int64_t> offsets;  ///< by value; multiples of 64
    int64_t peak = 0;
    int64_t max_live = 0;  ///< most bytes that are alive in one kernel: no plan has a smaller peak
};

/// Assigns every buffer an offset: best fit, in several orders, of which the best is taken (paper
/// 000, 3.3.1). The peak meets the lower bound for most transformers; where it does not, both numbers say so.
MemoryPlan plan_memory(const std::vector<LiveBuffer>& buffers);

/// Two buffers that are alive at once and overlap, or one that leaves the arena, as a sentence; empty if the
/// plan is valid. Shares no code with the planner.
std::vector<std::string> check(const std::vector<LiveBuffer>& buffers,
                               const std::map<std::string, int64_t>& offsets, int64_t arena_bytes);

}  // namespace tessera::memory
