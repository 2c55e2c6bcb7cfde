#pragma once

#include <string>

#include "movement/index.h"

namespace tessera::codegen::cpp {

/// A name of a program as an identifier: those of the meaning of a call have a dot.
std::string identifier(const std::string& name);

/// C++ of type int64_t or int; terms in alphabetical order. Operands of index reads are called by
/// `buffer[offset]`.
std::string text_of(const movement::Index& index);

}  // namespace tessera::codegen::cpp
