#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "chip/chip.h"
#include "machine/description.h"

namespace tessera::chip {

/// The matrix unit of a core works on blocks of so many rows, columns and summed elements; a tile is rounded
/// up to whole ones.
struct MatrixUnit {
    double flops_per_cycle = 0;
    std::array<int64_t, 3> block = {1, 1, 1};  ///< m, n, k
    friend bool operator==(const MatrixUnit&, const MatrixUnit&) = default;
};

struct VectorUnit {
    double flops_per_cycle = 0;
    double special_flops = 1;  ///< that an exponential, a square root or the like counts as
    friend bool operator==(const VectorUnit&, const VectorUnit&) = default;
};

/// Several equal chips that split every operator.
struct Pod {
    int64_t chips = 1;
    double bytes_per_cycle = 0;  ///< into each chip from all others; 0 for one chip
    double latency = 0;          ///< cycles
    friend bool operator==(const Pod&, const Pod&) = default;
};

using Energy = machine::Energy;

/// A chip as plans are computed with it (docs/chip-plan.md), by its cycles: a view of
/// machine::Description. `chip` is what the simulator needs of it.
struct ChipDescription {
    Chip chip;                        ///< its SRAM is without the reserved bytes
    std::vector<int64_t> shape;       ///< of a grid, any number of axes; one or two can be simulated
    int64_t reserved_bytes = 0;       ///< of each core's SRAM: a buffer through which arriving data passes
    double port_bytes_per_cycle = 0;  ///< of each core's SRAM
    double tile_overhead = 0;         ///< cycles to start a tile
    std::optional<MatrixUnit> matrix;
    VectorUnit vector;
    Pod pod;
    std::optional<Energy> energy;
    std::vector<machine::TileCosts> tile_costs;  ///< instead of units, port and overhead
    friend bool operator==(const ChipDescription&, const ChipDescription&) = default;

    double hbm_bytes_per_cycle() const;
    double hbm_latency() const;  ///< cycles, of the slowest module
    /// Links by which data can leave the controllers on a grid, all together; the HBM rate otherwise.
    double hbm_port_bytes_per_cycle() const;
};

}  // namespace tessera::chip
