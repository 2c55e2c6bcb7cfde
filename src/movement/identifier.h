#pragma once

#include <set>
#include <string>

namespace tessera::movement {

/// The graph's name as an identifier of the emitted code; different names stay different.
std::string identifier(const std::string& name);
/// Whether a name may be part of an identifier, as the names of specialisations are.
bool is_part_of_identifier(const std::string& name);
/// Words that mean something else in the emitted code.
const std::set<std::string>& reserved_identifiers();

}  // namespace tessera::movement
