#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "machine/description.h"
#include "machine/toml_document.h"

namespace tessera::machine {

/// Reads a description in TOML (docs/machine.md has the fields), or in one of the older formats
/// (machine/older_formats.h).
/// @param where  the file's name, for errors
/// @throws Error with "FILE:LINE" and the name of a field that is missing, unknown, out of its range, or
/// contradicts another
Description parse_description(std::string_view toml, const std::string& where);
Description read_description_table(const toml::table& table, const std::string& where);

/// @throws Error, also where the file cannot be read
Description read_description(const std::filesystem::path& path);

/// The inverse of `parse_description`. Equal descriptions print equally.
std::string print_description(const Description& description);

/// The same as JSON: fields and names are those of the TOML.
std::string description_json(const Description& description);

}  // namespace tessera::machine
