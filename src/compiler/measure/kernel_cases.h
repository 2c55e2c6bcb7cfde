#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/measure/kernel_subjects.h"
#include "lowering/movement/program.h"
#include "machine/machine.h"

namespace tessera::measure {

/// One micro-kernel with its parameters on a subject, lowered.
struct KernelCase {
    size_t subject = 0;
    std::string micro_kernel;
    std::map<std::string, int64_t> parameters;
    std::map<std::string, int64_t> work;  ///< of `loops` on an operator that is no product
    movement::Program program;
    int64_t constants_bytes;
    int64_t arena_bytes;
};

/// The lowered forms of the planner's candidates of the machine's own width, each micro-kernel with each set
/// of parameters once: a new micro-kernel or parameter is among them without being named here. With many
/// rows, only those of the planner's preferred micro-kernel for each kind of unit, since the others are slow:
/// results of a matrix unit stand beside those of the vectors. For folds, also those with lanes of several
/// registers. Chains of operators go by one row at a time.
std::vector<KernelCase> kernel_cases(const std::vector<KernelSubject>& subjects,
                                     const machine::Machine& machine);

}  // namespace tessera::measure
