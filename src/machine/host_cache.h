#pragma once

#include <filesystem>
#include <optional>

#include "machine/machine.h"

namespace tessera::machine {

/// Where `tessera machine --measure` keeps what it has measured of the host: FOLDER/machines/KEY.toml. The
/// key is a digest of what `probed`, the unmeasured host, says apart from the size of the main memory, which
/// changes with what else the system keeps.
std::filesystem::path host_cache_file(const std::filesystem::path& folder, const Machine& probed);

/// The kept description; none if there is none, or none that can be read and describes this host.
std::optional<Machine> cached_host(const std::filesystem::path& folder, const Machine& probed);

/// Keeps a measured description: whole or not at all.
/// @throws Error where the folder cannot be written
void keep_host(const std::filesystem::path& folder, const Machine& probed, const Machine& measured);

}  // namespace tessera::machine
