#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace tessera::machine {

/// The description of a machine as TOML 1.0 (machine/description_text.h). `print_machine` and `parse_machine`
/// are inverse, and equal machines print equally.
std::string print_machine(const Machine&);

/// The same as JSON: fields and names are those of the TOML.
std::string machine_json(const Machine&);

/// Checks everything that the rest of the compiler relies on: names, ranges, one vector unit for f32, flags
/// that name features and nothing else.
/// @param where  the file's name, for errors
/// @throws Error as parse_description, and for the description of another machine than a CPU
Machine parse_machine(std::string_view text, const std::string& where);

/// @throws Error, also where the file cannot be read
Machine read_machine(const std::filesystem::path&);

/// "m16,k32"; empty for no lanes.
std::string print_lanes(const std::vector<LaneAxis>&);

/// Reads what print_lanes writes: letters with factors of 1 to 4096, separated by commas.
std::optional<std::vector<LaneAxis>> parse_lanes(std::string_view text);

}  // namespace tessera::machine
