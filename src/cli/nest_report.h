#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "nest/nests/nest.h"

namespace tessera::cli {

/// Prints what a verb found of the nest in a file: `shown` on stdout, why the nest is illegal on stderr.
/// @param illegal null if it is legal
/// @return the exit code
int report_nest(std::string_view verb, const std::string& file, const std::string& shown,
                const nests::Illegal* illegal);

/// Says on stderr how many nests of several are illegal. @return the exit code
int report_illegal(const std::string& file, size_t illegal, size_t all);

}  // namespace tessera::cli
