#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace tessera::measure {

/// Limits of measuring, and its needs from the system.
struct MeasureOptions {
    int64_t threads = 0;        ///< at most; 0: the cores of the machine
    int64_t samples = 9;        ///< of every quantity, in turns with the others; their lower quartile counts
    double seconds = 0.02;      ///< of one sample, at least
    bool every_type = true;     ///< of weights; else micro-kernels on F32 and Q8_0 alone
    bool micro_kernels = true;  ///< else the roofs alone: memory, barriers, units
    int64_t memory_bytes = 0;   ///< that one thread streams; 0: four times the last cache, at least 256 MiB
    int64_t most_bytes = 0;     ///< of all threads' buffers; levels that need more are left out; 0: no limit
    double seconds_in_all = 0;  ///< after which the rest is left out; 0: as long as it takes
    /// Asked between samples: the rest of a stage is left out. Each has a share of seconds_in_all; empty:
    /// never.
    std::function<bool()> is_over = {};

    std::filesystem::path include_directory;  ///< holds tessera/ntt/
    std::filesystem::path cache_directory;    ///< for compiled code, by its content; created if missing
    std::string search_path;                  ///< where the C++ compiler is looked for
    std::function<void(const std::string&)> on_stage = {};  ///< told each stage as it starts; may be empty
    std::function<void()> on_sample = {};                   ///< called between samples; may be empty
};

/// The same for the roofs alone, in five seconds at most in place of minutes, whatever the caches are. A
/// table of some micro-kernels would be worse than none: what it lacks counts as fast as its unit, and would
/// be preferred.
MeasureOptions quick(MeasureOptions options);

}  // namespace tessera::measure
