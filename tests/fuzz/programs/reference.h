#pragma once

#include <filesystem>
#include <vector>

#include "fuzz/programs/treatments.h"

namespace tessera::fuzz {

/// True if ../shared/programs/reference.py and a Python with NumPy are there.
bool has_reference();

/// Compares the interpreter of graphs with the independent one of ../shared, which is called once for all
/// programs. @pre has_reference()
std::vector<Verdict> ask_reference(const std::vector<Program>& programs, const std::filesystem::path& folder);

}  // namespace tessera::fuzz
