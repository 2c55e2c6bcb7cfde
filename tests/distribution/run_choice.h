#pragma once

#include <string>
#include <vector>

#include "distribution/choices.h"
#include "ir/interpreter.h"

namespace tessera::distribution {

/// Runs one operator on simulated devices as a choice says, with several contents, and compares what they
/// make with the whole: garbage where a device holds nothing, random summands where an operand is P(sum).
/// Shares no code with the derivation of signatures. Empty if all is right.
std::vector<std::string> run_choice(const Operator& op, const Placement& placement, const Choice& choice,
                                    const std::vector<TensorData>& contents);

}  // namespace tessera::distribution
