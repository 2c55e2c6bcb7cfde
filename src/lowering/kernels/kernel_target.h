#pragma once

#include <cstdint>
#include <span>

#include "machine/machine.h"

namespace tessera::kernels {

/// The properties of the machine that decide a micro-kernel's parameters.
struct KernelTarget {
    int64_t lanes = 16;  ///< f32 lanes of the vector unit
    int64_t vector_registers = 32;
    int64_t line_bytes = 64;                      ///< of a line of the caches
    std::span<const machine::ComputeUnit> units;  ///< of the machine
    bool has_all_blocks = false;                  ///< every register block, and not the preferred one alone
};

}  // namespace tessera::kernels
