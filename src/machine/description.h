#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/level.h"
#include "machine/machine.h"
#include "machine/tile_costs.h"

namespace tessera::machine {

/// A compute unit of the innermost level. A CPU's has operands, registers and measured peaks; another one has
/// a stated rate.
struct Unit : ComputeUnit {
    std::optional<Rate> operations;  ///< a multiplication and an addition are two
    std::array<int64_t, 3> block =
        {};  ///< rows, columns and summed elements, rounded up to whole blocks; or zeros
    double special_operations = 0;  ///< that an exponential, a root or the like counts as; 0: not stated
    bool operator==(const Unit&) const = default;
};

/// Picojoules.
struct Energy {
    double matrix_flop = 0;
    double vector_flop = 0;
    double sram_byte = 0;
    double link_byte = 0;  ///< for each link on its way
    double hbm_byte = 0;
    double chip_byte = 0;  ///< from chip to chip
    friend bool operator==(const Energy&, const Energy&) = default;
};

/// The facts that code for a CPU is compiled with, and measurements beside those of its levels and units.
struct Cpu {
    Isa isa = Isa::kX86_64;
    int64_t cache_line_bytes = 64;
    std::optional<int64_t> usable_cores;  ///< of a process; all cores without it
    CompilerSettings compiler;
    std::string measured_with;
    std::vector<BarrierCost> barriers;
    std::vector<RankLink> rank_links;
    std::vector<MicroKernelTime> micro_kernels;
    bool operator==(const Cpu&) const = default;
};

/// A machine of any kind, as one file describes it (docs/machine.md): a CPU, a cluster, a chip.
struct Description {
    std::string name;
    std::optional<Cpu> cpu;
    std::optional<double> clock_hz;   ///< set where a quantity is by the cycle
    double tile_overhead_cycles = 0;  ///< to start a tile on a core
    std::vector<Level> levels;        ///< at least one, from the outermost inwards
    std::vector<Unit> units;
    std::optional<Energy> energy;
    std::vector<TileCosts> tile_costs;  ///< fitted from measurements, at most one of each kind
    bool operator==(const Description&) const = default;
};

/// Innermost instances that one instance of a level serves: the product of the counts inside of it.
/// @return a number for each level, at most 2^40
std::vector<int64_t> instances_inside(const std::vector<Level>& levels);

/// The view of the compiler. @param where the file's name, for errors
/// @throws Error naming what a description of another kind lacks
Machine cpu_machine(const Description& description, const std::string& where);

/// The description of which `cpu_machine` makes this machine.
Description describe(const Machine& machine);

}  // namespace tessera::machine
