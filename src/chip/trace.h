#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chip/simulation.h"

namespace tessera::chip {

/// Sums over a simulation: the trailer of its trace, and how the time was spent.
struct SimulationTotals {
    double total = 0;            ///< the last end
    int64_t hbm_read_bytes = 0;  ///< by preloads
    int64_t hbm_written_bytes = 0;
    int64_t preloaded_bytes = 0;  ///< read bytes times receivers
    std::vector<int64_t> link_bytes;
    std::vector<double> hbm_utilisation;      ///< of each controller
    double link_utilisation = 0;              ///< mean over all links
    std::vector<double> compute_utilisation;  ///< of each core
    std::vector<int64_t> sram_peak;           ///< of each core

    double overlapped = 0;  ///< cycles in which a preload and an execute run
    double execute_only = 0;
    double preload_only = 0;
    double stalled = 0;  ///< cycles of executes in which no core computes
};

SimulationTotals totals_of(const Chip& chip, const Network& network, const Simulation& simulation);

/// The trace as JSON lines (docs/chip.md): a header with the chip as in its file, packets, tiles and spaces
/// by the time at which they begin, and a trailer.
std::string trace_text(const Chip& chip, const Network& network, const DeviceProgram& program,
                       std::string_view chip_json, const Simulation& simulation);

/// The same for chrome://tracing and Perfetto: a row for the preloads, one for the executes, one for each
/// core and link. One cycle is shown as a microsecond.
std::string chrome_trace_text(const Network& network, const DeviceProgram& program,
                              const Simulation& simulation);

}  // namespace tessera::chip
