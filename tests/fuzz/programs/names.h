#pragma once

#include "fuzz/programs/choices.h"
#include "fuzz/programs/program.h"

namespace tessera::fuzz {

/// Renames values, nodes, blocks, symbols, iterators and tensors: to words that C++, its headers, generated
/// code, file systems and the notation itself use, to names that differ by case alone or by an underscore,
/// and to long ones. All of them are legal.
void give_names(Choices& choices, Program& program);

}  // namespace tessera::fuzz
