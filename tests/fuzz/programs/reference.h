#pragma once

#include <filesystem>
#include <vector>

#include "fuzz/programs/treatments.h"

namespace tessera::fuzz {

/// Whether ../shared/programs/reference.py and a Python with NumPy are there.
bool has_reference();

/// What the interpreter of graphs says, against the independent one of ../shared, for all programs in one
/// call of it. @pre has_reference()
std::vector<Verdict> ask_reference(const std::vector<Program>& programs, const std::filesystem::path& folder);

}  // namespace tessera::fuzz
