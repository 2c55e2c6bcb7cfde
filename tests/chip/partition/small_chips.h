#pragma once

#include <string>

#include <fmt/core.h>

#include "chip/read_chip_toml.h"

namespace tessera::partition {

struct SmallChip {
    std::string topology = "all-to-all";  ///< or "mesh" with `shape`
    std::string shape;
    int cores = 6;
    int sram_bytes = 100'000;
    int reserved_bytes = 0;
    bool has_matrix = true;
    int chips = 1;
};

/// A link of 4 bytes a cycle and a latency of 5, HBM of 8 bytes a cycle, a vector unit of 2 flops a cycle.
inline chip::ChipDescription small_chip(const SmallChip& small = {}) {
    std::string text = fmt::format(
        "name = \"small\"\ncores = {}\nclock_hz = 1e9\ntile_overhead_cycles = 3\n"
        "[sram]\nbytes = {}\nreserved_bytes = {}\nport_bytes_per_cycle = 16\n"
        "[vector]\nflops_per_cycle = 2\nspecial_flops = 4\n"
        "[network]\ntopology = \"{}\"\nlink_bytes_per_second = 4e9\nlatency_cycles = 5\n",
        small.cores, small.sram_bytes, small.reserved_bytes, small.topology);
    if (!small.shape.empty()) text += "shape = " + small.shape + "\n";
    if (small.has_matrix) text += "[matrix]\nflops_per_cycle = 16\nblock = [2, 4, 2]\n";
    text += "[[hbm]]\nbytes_per_second = 8e9\nlatency_cycles = 50\n";
    if (!small.shape.empty()) text += "at = [0, 1]\n";
    if (small.chips > 1)
        text += fmt::format("[pod]\nchips = {}\nbytes_per_second = 2e9\nlatency_cycles = 100\n", small.chips);
    return chip::parse_chip_description(text, "small.toml");
}

}  // namespace tessera::partition
