#pragma once

#include <string>

namespace tessera {

/// The linker's name for the code of the program or library that this function is part of (--build-id):
/// hexadecimal digits. Empty if there is none: then nothing may be kept for another run that depends on the
/// same code.
std::string own_build();

}  // namespace tessera
