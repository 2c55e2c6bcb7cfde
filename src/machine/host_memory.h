#pragma once

#include <cstdint>

namespace tessera::machine {

/// Bytes of memory that this process may use: those of the machine, or fewer where a control group says so.
int64_t host_memory_bytes();

}  // namespace tessera::machine
