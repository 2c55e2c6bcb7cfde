#pragma once

#include <cstdint>

namespace tessera::benchmark {

/// A loop of independent F32 multiply-adds in registers, in the widest form that this CPU has.
struct PeakLoop {
    float (*run)(int64_t rounds);     ///< the result keeps the compiler from leaving it out
    double multiply_adds_of_a_round;  ///< two for each lane of each instruction
};
PeakLoop peak_loop();

}  // namespace tessera::benchmark
