#pragma once

#include <string>

#include "ir/definition.h"

namespace tessera::facts {

/// The reason why workers cannot fold parts of the operator to be combined later; empty if they can. A result
/// must be made by the fold alone, and at elements that do not depend on the reduction.
std::string why_not_parted(const Definition& definition);

}  // namespace tessera::facts
