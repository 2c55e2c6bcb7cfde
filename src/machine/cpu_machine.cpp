#include <algorithm>

#include "machine/description.h"
#include "support/error.h"

namespace tessera::machine {
namespace {

constexpr int64_t kMostInside = int64_t{1} << 40;

/// Levels from the main memory inwards, and the core.
std::vector<Level> levels_of(const std::vector<MemoryLevel>& memory) {
    std::vector<Level> levels;
    for (size_t i = memory.size(); i-- > 0;) {
        const MemoryLevel& each = memory[i];
        const int64_t around = i + 1 < memory.size() ? memory[i + 1].shared_by_cores : each.shared_by_cores;
        levels.push_back({.name = each.name,
                          .count = (around + each.shared_by_cores - 1) / each.shared_by_cores,
                          .capacity_bytes = each.capacity_bytes,
                          .latency_seconds = each.latency_seconds,
                          .read_bandwidth = each.read_bandwidth});
    }
    // A memory that happens to be called core leaves the name to it.
    std::string core = "core";
    const auto is_taken = [&](const Level& level) { return level.name == core; };
    while (std::any_of(levels.begin(), levels.end(), is_taken)) core += "_";
    levels.push_back({.name = core, .count = memory.empty() ? 1 : memory.front().shared_by_cores});
    const std::vector<int64_t> inside = instances_inside(levels);
    for (size_t i = 0; i < memory.size(); ++i) {
        const int64_t sharing = memory[memory.size() - 1 - i].shared_by_cores;
        if (sharing != inside[i]) levels[i].shared_by_cores = sharing;
    }
    return levels;
}

}  // namespace

std::vector<int64_t> instances_inside(const std::vector<Level>& levels) {
    std::vector<int64_t> inside(levels.size(), 1);
    for (size_t i = levels.size(); i-- > 1;)
        inside[i - 1] = std::min(inside[i] * levels[i].count, kMostInside);
    return inside;
}

Machine cpu_machine(const Description& description, const std::string& where) {
    if (!description.cpu)
        throw Error(where, "isa", "is missing, so this is no machine that code can be compiled for",
                    "a CPU also has `cache_line_bytes` and `compiler` (docs/machine.md)");
    const Cpu& cpu = *description.cpu;
    const std::vector<int64_t> inside = instances_inside(description.levels);
    Machine machine{.name = description.name,
                    .isa = cpu.isa,
                    .cores = cpu.usable_cores.value_or(inside.front()),
                    .cache_line_bytes = cpu.cache_line_bytes,
                    .memory = {},
                    .units = {description.units.begin(), description.units.end()},
                    .compiler = cpu.compiler,
                    .measured_with = cpu.measured_with,
                    .barriers = cpu.barriers,
                    .rank_links = cpu.rank_links,
                    .micro_kernels = cpu.micro_kernels};
    for (size_t i = description.levels.size() - 1; i-- > 0;) {
        const Level& level = description.levels[i];
        machine.memory.push_back({.name = level.name,
                                  .capacity_bytes = *level.capacity_bytes,
                                  .shared_by_cores = level.shared_by_cores.value_or(inside[i]),
                                  .latency_seconds = level.latency_seconds,
                                  .read_bandwidth = level.read_bandwidth});
    }
    return machine;
}

Description describe(const Machine& machine) {
    Description description{.name = machine.name,
                            .cpu = Cpu{.isa = machine.isa,
                                       .cache_line_bytes = machine.cache_line_bytes,
                                       .usable_cores = machine.cores,
                                       .compiler = machine.compiler,
                                       .measured_with = machine.measured_with,
                                       .barriers = machine.barriers,
                                       .rank_links = machine.rank_links,
                                       .micro_kernels = machine.micro_kernels},
                            .levels = levels_of(machine.memory)};
    if (instances_inside(description.levels).front() == machine.cores) description.cpu->usable_cores.reset();
    for (const ComputeUnit& unit : machine.units) description.units.push_back({unit});
    return description;
}

}  // namespace tessera::machine
