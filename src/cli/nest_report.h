#pragma once

#include <string>
#include <string_view>

#include "nests/nest.h"

namespace tessera::cli {

/// Prints what a verb found of the nest in a file: `shown` on stdout, why the nest is illegal on stderr.
/// @param illegal null if it is legal
/// @return the exit code
int report_nest(std::string_view verb, const std::string& file, const std::string& shown,
                const nests::Illegal* illegal);

}  // namespace tessera::cli
