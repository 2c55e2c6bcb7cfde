#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fuzz/programs/program.h"

namespace tessera::fuzz {

/// A simpler program that still fails: first by shorter and smaller choices, then by taking out outputs and
/// by handing results of nodes in as inputs.
/// @param choices  that made a program which fails
/// @param tries  how often `fails` may be asked
Program shrink(const std::vector<uint32_t>& choices, const std::function<bool(const Program&)>& fails,
               int tries);

}  // namespace tessera::fuzz
