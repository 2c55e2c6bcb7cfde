#include "machine/host_memory.h"

#include <algorithm>
#include <bit>

#include <unistd.h>

#include "machine/cgroup.h"
#include "support/error.h"

namespace tessera::machine {

int64_t host_memory_bytes() {
    const int64_t bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    TESSERA_CHECK(bytes > 0);
    const auto limit = read_cgroup_limits("/").memory_bytes;
    return limit ? std::min(bytes, *limit) : bytes;
}

int64_t rounded_memory(int64_t bytes) {
    const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)));
    return bytes - bytes % std::max<int64_t>(1, power / 32);
}

}  // namespace tessera::machine
