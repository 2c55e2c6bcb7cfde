#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/level.h"

namespace tessera::chip {

/// One stack of HBM with its ports: one into the switch of an all-to-all chip, on a grid one at each core of
/// `at`.
struct HbmController {
    double bytes_per_cycle = 0;       ///< of all ports together, reads and writes
    double port_bytes_per_cycle = 0;  ///< of a port, each way
    double latency = 0;               ///< cycles
    std::vector<int32_t> at = {};     ///< cores; grids only
    friend bool operator==(const HbmController&, const HbmController&) = default;
};

/// A unit of every core.
struct ComputeUnit {
    std::string name;
    double flops_per_cycle = 0;
    friend bool operator==(const ComputeUnit&, const ComputeUnit&) = default;
};

using Topology = machine::LinkTopology;

/// An inter-core connected chip as the simulator needs it (docs/chip.md), by its cycles.
struct Chip {
    std::string name;
    int32_t cores = 0;
    int64_t sram_bytes = 0;  ///< of each core
    double clock_hz = 0;
    Topology topology = Topology::kAllToAll;
    int32_t rows = 0;  ///< of a grid: core at row r, column c is r * columns + c
    int32_t columns = 0;
    double link_bytes_per_cycle = 0;
    double latency = 0;  ///< cycles of a link, from a byte's entry to its arrival
    std::vector<HbmController> hbm;
    std::vector<ComputeUnit> units;
    bool is_grid() const { return machine::is_grid(topology); }
    friend bool operator==(const Chip&, const Chip&) = default;
};

}  // namespace tessera::chip
