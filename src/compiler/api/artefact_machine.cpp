#include "compiler/api/artefact_machine.h"

#include <fmt/core.h>

#include "machine/host_cache.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/error.h"

namespace tessera {

machine::Machine machine_for(const runtime::Artefact& artefact, const std::filesystem::path& file,
                             std::string_view flag, const std::filesystem::path& measured_machines) {
    if (!file.empty()) return machine::read_machine(file);
    machine::Machine host = machine::probe_host();
    if (auto measured = machine::cached_host(measured_machines, host)) host = std::move(*measured);
    if (machine::content_hash(host) != artefact.manifest().machine_hash)
        throw Error(artefact.where(), std::string(flag),
                    fmt::format("is for machine {} ({}), and this one is now described otherwise ({})",
                                artefact.manifest().machine, artefact.manifest().machine_hash,
                                machine::content_hash(host)),
                    "give the measured description of a machine with --machine");
    return host;
}

}  // namespace tessera
