#pragma once

#include <cstdint>

#include "cli/environment.h"
#include "machine/machine.h"

namespace CLI {
class App;
}

namespace tessera::cli {

/// This machine as it was measured and kept, else as it can be known without measuring. Never measures.
machine::Machine host_machine(const Environment& environment);

/// True if the rates of `measured` are of the kernels and the compiler that are here now.
/// @throws Error where there is no C++ compiler
bool is_up_to_date(const machine::Machine& measured, const Environment& environment);

struct MeasureFlags {
    bool is_quick = false;
    int64_t threads = 0;  ///< at most; 0: the cores of the machine
};

/// Measures, with progress on the terminal. @throws Error as measure_machine
machine::Machine measure_host(const machine::Machine& probed, const MeasureFlags& flags,
                              const Environment& environment);

/// --no-measure.
void add_no_measure_flag(CLI::App& app, bool& no_measure);

/// Measures the roofs of this machine before something is compiled for it, and keeps them, unless some are
/// kept. Says so on stderr. Processes take turns: the second one finds what the first one has kept. If it
/// fails, or nothing could be kept, the machine stays as it is known.
void measure_once(const Environment& environment);

}  // namespace tessera::cli
