#include "cli/host_machine.h"

#include "machine/host_cache.h"
#include "machine/probe.h"
#include "measure/measure_machine.h"

namespace tessera::cli {

machine::Machine host_machine(const Environment& environment) {
    machine::Machine probed = machine::probe_host();
    return machine::cached_host(environment.cache->root(), probed).value_or(probed);
}

bool is_up_to_date(const machine::Machine& measured, const Environment& environment) {
    return measured.measured_with ==
           measure::kernels_digest(measured, {.include_directory = environment.include_directory,
                                              .search_path = environment.search_path});
}

}  // namespace tessera::cli
