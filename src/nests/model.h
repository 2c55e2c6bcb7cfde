#pragma once

#include <cstdint>

#include "nests/kernel_file.h"

namespace tessera::nests {

/// MCFuser's model of the time of a nest. Source: paper 002, eq. 2 to 5.
struct ModelTimes {
    double memory = 0;    ///< seconds: bytes / bandwidth
    double compute = 0;   ///< seconds: flops / peak; special functions are not priced
    double alpha = 0;     ///< (units of the nest + units of the machine) / units of the nest
    double estimate = 0;  ///< seconds: (memory + compute) alpha
    bool operator==(const ModelTimes&) const = default;
};

inline ModelTimes model_times(int64_t bytes, int64_t flops, int64_t units, const MachineRates& machine) {
    ModelTimes times;
    times.memory = static_cast<double>(bytes) / machine.bandwidth;
    times.compute = static_cast<double>(flops) / machine.peak;
    times.alpha =
        (static_cast<double>(units) + static_cast<double>(machine.units)) / static_cast<double>(units);
    times.estimate = (times.memory + times.compute) * times.alpha;
    return times;
}

}  // namespace tessera::nests
