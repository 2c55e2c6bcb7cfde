#pragma once

#include <filesystem>
#include <string>

#include "fuzz/programs/treatments.h"

namespace tessera::fuzz {

/// Writes `NAME.ir`, whose head says what happened and which commands repeat it, the arrays of its call, and
/// the results of the interpreter of graphs in `NAME.expected/`.
void keep_program(const std::filesystem::path& folder, const std::string& name, const Program& program,
                  const Treatment& treatment, const Verdict& verdict);

}  // namespace tessera::fuzz
