#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"

namespace tessera::cli {

/// A verb whose first word says what to do, `tessera chip plan`: each part is declared as a verb of its own.
Verb verb_of_parts(std::string name, std::string help, std::vector<Verb> parts);

}  // namespace tessera::cli
