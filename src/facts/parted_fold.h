#pragma once

#include <string>

#include "ir/definition.h"

namespace tessera::facts {

/// Why no worker can fold parts of the operator, for all to be combined later; empty if it can. A result must
/// be made by the fold alone, and at elements that the reduction leaves free.
std::string why_not_parted(const Definition& definition);

}  // namespace tessera::facts
