#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "chip/chip_description.h"
#include "machine/description_text.h"

namespace tessera::chip {

/// The view of the simulator, which has grids of one or two axes. @throws Error naming what `where` lacks
Chip simulated_chip(const machine::Description& description, const std::string& where);

/// The view of the planner. @throws Error naming what `where` lacks
ChipDescription chip_description(const machine::Description& description, const std::string& where);

/// The same of a text, a table and a file (machines/chips/, docs/machine.md). @throws Error also as
/// machine::parse_description
ChipDescription parse_chip_description(std::string_view toml, const std::string& where);
ChipDescription read_chip_table(const toml::table& table, const std::string& where);
ChipDescription read_chip_description(const std::filesystem::path& path);

/// The chip in the form that `read_chip` reads. @pre at most two axes
std::string chip_json(const Chip& chip);

}  // namespace tessera::chip
