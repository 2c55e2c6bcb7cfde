#pragma once

#include "cli/verb.h"

/// The parts of `tessera chip`, each declared as a verb is.
namespace tessera::cli {

Verb chip_check_part();
Verb chip_explain_part();
Verb chip_explore_part();
Verb chip_fit_part();
Verb chip_plan_part();
Verb chip_run_part();
Verb chip_schedule_part();
Verb chip_simulate_part();

}  // namespace tessera::cli
