#pragma once

#include <string>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::movement {

/// A rule of the language that a program breaks.
struct ProgramFault {
    std::string kernel;
    std::string statement;  ///< its first line; empty: the kernel as a whole
    std::string problem;
    bool operator==(const ProgramFault&) const = default;
};
/// "kernel q: `x[t] = total`: x is not written by this kernel"
std::string print(const ProgramFault& fault);

/// The faults that a program has whatever its inputs are; empty if there are none. Calls are checked by their
/// meaning.
///
/// - A name is declared once, and used where it is in scope, with the bounds that its declaration gives.
/// - Buffers have a size and lie within the arena; those that are written are neither inputs nor constants,
///   nor of elements smaller than a byte.
/// - Loops step forwards, lanes are as many as a vector has, values with lanes stand in a loop over lanes.
/// - Accumulators fold by their monoid, values are computed by functions that compiled code has.
/// - Integers stay within 64 bits, whatever their variables are.
/// - No element is accessed that surely lies outside of its buffer.
///
/// Faults that depend on values, such as reading an unwritten element, show when the program is interpreted.
std::vector<ProgramFault> verify(const Program& program);

/// @throws Error naming the first fault.
void expect_sound(const Program& program, const std::string& where);

}  // namespace tessera::movement
