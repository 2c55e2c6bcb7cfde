#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/machine_text.h"

namespace tessera::testing {

/// A described machine with rates of round numbers.
inline machine::Machine round_machine() {
    const char* name = machine::kHostIsa == machine::Isa::kX86_64 ? "generic-x86-64" : "neon";
    machine::Machine machine =
        machine::read_machine(std::string(TESSERA_SOURCE_DIR) + "/machines/" + name + ".toml");
    machine.name = "round";
    machine.cores = 2;
    double rate = 80e9;
    for (machine::MemoryLevel& level : machine.memory) {
        level.read_bandwidth = {{.threads = 1, .bytes_per_second = rate}};
        rate /= 2;
    }
    for (machine::ComputeUnit& unit : machine.units)
        if (unit.kind == machine::UnitKind::kVector)
            unit.peaks = {{.level = machine.memory[0].name, .operations_per_second = 20e9}};
    machine.barriers = {{.threads = 2, .seconds = 3e-6}};
    const std::vector<std::map<std::string, int64_t>> works = {
        {{"steps", 10}}, {{"steps", 10}, {"loads", 20}}, {{"steps", 10}, {"flops", 30}}};
    for (const auto& work : works)
        machine.micro_kernels.push_back({.name = "loops",
                                         .types = {{"C", "f32"}},
                                         .parameters = {{"lanes", machine::vector_lanes(machine)}},
                                         .sizes = {{"i", 10 * static_cast<int64_t>(work.size())}},
                                         .work = work,
                                         .level = machine.memory[1].name,
                                         .seconds = 1e-8 * static_cast<double>(work.size())});
    return machine;
}

}  // namespace tessera::testing
