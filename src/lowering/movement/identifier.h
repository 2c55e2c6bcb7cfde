#pragma once

#include <string>

namespace tessera::movement {

/// Names of a graph in a program and in emitted code: distinct from each other and from all other names,
/// whatever they are. They begin with one letter of their kind and an underscore, `v_x`. Names that lowering
/// and emission make do not, nor do words of the language, macros and functions of its headers.
std::string value_identifier(const std::string& name);
std::string symbol_identifier(const std::string& name);
std::string iterator_identifier(const std::string& name);

/// True if a name may be part of an identifier, as the names of specialisations are.
bool is_part_of_identifier(const std::string& name);

}  // namespace tessera::movement
