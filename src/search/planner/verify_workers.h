#pragma once

#include <string>

#include "lowering/movement/program.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// Refuses a lowered program in which two workers may touch one element in one phase, one of them writing it,
/// or in which a worker reads elements of its own copy of a buffer that it has not computed. Shares no code
/// with the planner, which chooses barriers and divisions.
void verify_workers(const plan::SpecialisationPlan& plan, const movement::Program& program,
                    const std::string& where);

}  // namespace tessera::planner
