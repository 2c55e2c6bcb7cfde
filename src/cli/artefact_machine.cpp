#include "cli/artefact_machine.h"

#include <fmt/core.h>

#include "cli/compiling.h"
#include "support/error.h"

namespace tessera::cli {

machine::Machine machine_of(const runtime::Artefact& artefact, const std::string& file, std::string_view flag,
                            const Environment& environment) {
    machine::Machine machine = read_machine(file, environment);
    if (file.empty() && machine::content_hash(machine) != artefact.manifest().machine_hash)
        throw Error(artefact.where(), std::string(flag),
                    fmt::format("is for machine {} ({}), and this one is now described otherwise ({})",
                                artefact.manifest().machine, artefact.manifest().machine_hash,
                                machine::content_hash(machine)),
                    "give the measured description of a machine with --machine");
    return machine;
}

}  // namespace tessera::cli
