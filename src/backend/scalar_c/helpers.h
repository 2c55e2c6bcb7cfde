#pragma once

#include <string_view>

namespace tessera::backend::scalar_c {

/// The head of all C: headers, and functions for what an operator of C is not. Each computes in double and
/// rounds once, as the interpreter of programs does.
extern const std::string_view kHelpers;

}  // namespace tessera::backend::scalar_c
