#pragma once

#include <string>

namespace tessera {

/// What the linker has named the program or library that this function is part of, by all of its code
/// (--build-id): hexadecimal digits. Empty where it has not: then nothing may be kept for another run that
/// only the same code would make.
std::string own_build();

}  // namespace tessera
