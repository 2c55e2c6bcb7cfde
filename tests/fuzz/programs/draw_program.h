#pragma once

#include "fuzz/programs/choices.h"
#include "fuzz/programs/program.h"

namespace tessera::fuzz {

/// A legal program of 2 to 11 nodes or a few more, where a family adds several, with one call of it.
/// @throws Error for a program that is not legal: a fault of this generator, or of what verifies graphs
Program draw_program(Choices& choices);

/// Takes out nodes, values and contents that no output and no state needs.
void drop_unused(Program& program);

}  // namespace tessera::fuzz
