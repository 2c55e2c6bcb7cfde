#pragma once

#include <string>

#include "ir/definition.h"

namespace tessera {

/// The rules of a recurrence's lines: each result has one, none changes what another parallel iteration
/// reads, and none depends on the order in which it is taken itself. @throws Error
/// @pre references, bodies and the ordered iterator are in order (definition_verifier.cpp)
void verify_lines(const Definition& recurrence, const std::string& source, const DefinitionLines& lines);

}  // namespace tessera
