#pragma once

#include <filesystem>
#include <string_view>

#include "machine/machine.h"
#include "run/runtime/artefact.h"

namespace tessera {

/// The machine for statements about an artefact: that of a file, else the host as it was measured (below
/// `measured_machines`, machine/host_cache.h), which stands for the machine of the artefact only if it is the
/// same. @throws Error that names the flag where it is not.
machine::Machine machine_for(const runtime::Artefact& artefact, const std::filesystem::path& file,
                             std::string_view flag, const std::filesystem::path& measured_machines);

}  // namespace tessera
