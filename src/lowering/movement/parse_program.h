#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::movement {

/// Reads what `print` of a program writes: parse(print(p)) equals p. `kinds`: the calls that a program may
/// have.
/// @throws Error with the line if the text is not a program, or if `verify` finds a fault in it.
Program parse_program(std::string_view text, const std::string& where,
                      std::span<const CallKind* const> kinds);
/// Several programs, one behind the other, as --dump writes them.
std::vector<Program> parse_programs(std::string_view text, const std::string& where,
                                    std::span<const CallKind* const> kinds);

}  // namespace tessera::movement
