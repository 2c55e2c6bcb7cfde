#include "cli/chip.h"

#include <vector>

#include "cli/verb_of_parts.h"

namespace tessera::cli {
namespace {

std::vector<Verb> chip_parts() {
    return {chip_check_part(),    chip_plan_part(),     chip_explain_part(), chip_explore_part(),
            chip_schedule_part(), chip_simulate_part(), chip_run_part(),     chip_fit_part()};
}

}  // namespace

Verb chip_verb() {
    return verb_of_parts("chip", "plan and simulate inter-core connected AI chips", chip_parts());
}

}  // namespace tessera::cli
