#pragma once

#include "cost/vector_work.h"
#include "machine/machine.h"

namespace tessera::cost {

/// The cost of each count of VectorWork in operations on a vector, on most processors of today. Quotients and
/// special functions are series of multiplications and additions. The wait for the end of a fold is some 60
/// cycles, in which two operations a cycle would be done: the latency of three additions of lanes and, in a
/// norm, of two divisions and a root.
inline constexpr VectorWork kTypicalOperations{.steps = 0,
                                               .flops = 1,
                                               .divisions = 8,
                                               .special = 16,
                                               .loads = 1,
                                               .gathers = 1,
                                               .conversions = 1,
                                               .folds = 1,
                                               .ends = 1,
                                               .waits = 128};
double typical_operations(const VectorWork& work);

/// The description with a rate for each level of memory and each unit that it gives none of, and for
/// barriers: the roofs that a machine of such lanes and levels typically has (Williams et al., "Roofline",
/// 2009). Rates that it gives stay.
machine::Machine with_typical_rates(machine::Machine machine);

/// Operations of one instruction of the unit: its sums, each over the products along axes that the result
/// lacks.
double operations_of_instruction(const machine::ComputeUnit& unit);

/// Seconds of one operation of the vector unit for F32. @pre the unit has peaks
double seconds_of_an_operation(const machine::Machine& machine);

}  // namespace tessera::cost
