#pragma once

#include <span>
#include <vector>

#include "layouts/form_cost.h"
#include "machine/machine.h"

namespace tessera::layouts {

/// Seconds for which a form waits for what it reads and writes at these sizes: constants come from the main
/// memory, everything else from the innermost level that holds it. Padding counts.
/// `seconds_per_byte(level)`: of one worker while all of them read.
double waiting_seconds(const Definition& definition, std::span<const Operand> operands,
                       const TensorType& result, const std::map<std::string, int64_t>& symbols,
                       const Machine& machine, const std::function<double(size_t)>& seconds_per_byte);

/// Layouts as Definition::tensors.
std::vector<Layout> layouts_of(std::span<const Operand> operands, const TensorType& result);

}  // namespace tessera::layouts
