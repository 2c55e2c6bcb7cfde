#include "machine/doubtful_levels.h"

#include <fmt/core.h>

namespace tessera::machine {
namespace {

/// A level is worth its name if the next one takes this much longer.
constexpr double kStep = 1.5;

}  // namespace

std::vector<std::string> doubtful_levels(const Machine& machine) {
    std::vector<std::string> found;
    for (size_t i = 0; i + 1 < machine.memory.size(); ++i) {
        const MemoryLevel &level = machine.memory[i], &next = machine.memory[i + 1];
        if (!level.latency_seconds || !next.latency_seconds) continue;
        if (*next.latency_seconds >= kStep * *level.latency_seconds) continue;
        found.push_back(
            fmt::format("{0}: the system says {1} bytes, but loads from half of it take {2:.1f} ns, and "
                        "those of {3} {4:.1f} ns: "
                        "less of it may be this machine's",
                        level.name, level.capacity_bytes, *level.latency_seconds * 1e9, next.name,
                        *next.latency_seconds * 1e9));
    }
    return found;
}

}  // namespace tessera::machine
