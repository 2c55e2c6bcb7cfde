#pragma once

#include <string>

namespace tessera::cli {

/// All of it. @throws Error if it cannot be read
std::string read_standard_input();

}  // namespace tessera::cli
