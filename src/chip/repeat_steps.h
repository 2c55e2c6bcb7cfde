#pragma once

#include "chip/schedule_problem.h"

namespace tessera::chip {

/// The problem of so many steps, one after the other: the preloads of a step may run while the step before
/// it ends. For many steps the total over their number is what a step takes in the long run.
ScheduleProblem repeated_steps(const ScheduleProblem& step, size_t count);

/// A schedule of such steps, each `length` positions, in which no preload is issued before the same operator
/// of the step before has been executed. The data that it reads may have been written by then: operators that
/// write a state come before those that read it. Preloads are delayed; if an order would deadlock by that,
/// every preload is issued in front of its execute. @pre the schedule is valid
Schedule after_step_before(const ScheduleProblem& steps, const Schedule& schedule, size_t length);

}  // namespace tessera::chip
