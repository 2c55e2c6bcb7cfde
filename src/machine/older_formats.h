#pragma once

#include <optional>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "machine/description.h"

namespace tessera::machine {

/// Reads the formats that CPUs (`[[memory]]`, innermost first), chips (`[sram]`, `[network]`) and clusters
/// (`[device]`) had before they had one; none for a table that has none of their fields. Measurements that
/// users keep and files that they wrote have them.
/// @throws Error with "FILE:LINE" and the field, as `parse_description`
std::optional<Description> read_older_format(const toml::table& table, const std::string& where);

/// The path of a chip's field in the older format, "hbm", "bytes_per_second", as one of today's: "level",
/// "chip", "module", "bytes_per_second". A path of no such field stays as it is.
std::vector<std::string> renamed_chip_field(std::vector<std::string> path);

}  // namespace tessera::machine
