#include "cli/host_machine.h"

#include "machine/host_cache.h"
#include "machine/probe.h"

namespace tessera::cli {

Machine host_machine(const Environment& environment) {
    Machine probed = probe_host();
    if (environment.cache_directory.empty()) return probed;
    return cached_host(environment.cache_directory, probed).value_or(probed);
}

}  // namespace tessera::cli
