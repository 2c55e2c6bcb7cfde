#include "machine/host_memory.h"

#include <algorithm>

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

}  // namespace tessera::machine
