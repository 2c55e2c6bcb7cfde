#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chip/chip_description.h"
#include "machine/toml_document.h"

namespace tessera::chip {

/// Reads a description (machines/chips/, docs/chip-plan.md). @throws Error with "FILE:LINE" and the name of a
/// field that is missing, unknown, out of its range, or contradicts another.
ChipDescription parse_chip_description(std::string_view toml, const std::string& where);
ChipDescription read_chip_table(const toml::table& table, const std::string& where);
ChipDescription read_chip_description(const std::filesystem::path& path);

/// The chip in the form that `read_chip` reads.
/// @throws Error for a grid of more than two axes, which the simulator does not have.
std::string chip_json(const ChipDescription& description, const std::string& where);

}  // namespace tessera::chip
