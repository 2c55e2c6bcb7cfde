#pragma once

#include <filesystem>
#include <optional>

#include "machine/machine.h"

namespace tessera::machine {

/// The file in which `tessera machine --measure` keeps its measurements of the host:
/// FOLDER/machines/KEY.toml. The key is a digest of `probed`, the unmeasured host, without the size of the
/// main memory, which changes with the system's other uses of it.
std::filesystem::path host_cache_file(const std::filesystem::path& folder, const Machine& probed);

/// The kept description; none if there is none, or none that can be read and describes this host.
std::optional<Machine> cached_host(const std::filesystem::path& folder, const Machine& probed);

/// Keeps a measured description: whole or not at all.
/// @throws Error where the folder cannot be written
void keep_host(const std::filesystem::path& folder, const Machine& probed, const Machine& measured);

}  // namespace tessera::machine
