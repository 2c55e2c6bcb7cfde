#pragma once

#include <cstdint>

#include "machine/published_models.h"
#include "nests/kernel_file.h"

namespace tessera::nests {

/// MCFuser's model of the time of a nest, of which the blocks are its units.
using ModelTimes = machine::McfuserTimes;

inline ModelTimes model_times(int64_t bytes, int64_t flops, int64_t units, const MachineRates& machine) {
    return machine::mcfuser_times(bytes, flops, units, {machine.bandwidth, machine.peak, machine.units});
}

}  // namespace tessera::nests
