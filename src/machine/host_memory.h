#pragma once

#include <cstdint>

namespace tessera::machine {

/// Bytes of memory that this process may use: those of the machine, or fewer where a control group says so.
int64_t host_memory_bytes();

/// Rounded down to a multiple of a 32nd of the largest power of two in it, for descriptions: the memory of a
/// virtual machine differs a little each time that it starts, and models must not be compiled again for that.
/// @pre bytes > 0
int64_t rounded_memory(int64_t bytes);

}  // namespace tessera::machine
