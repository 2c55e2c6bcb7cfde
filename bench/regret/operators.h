#pragma once

#include <vector>

#include "instance_builder.h"
#include "machine/machine.h"

namespace tessera {

struct Subject {
    Instance instance;  ///< named with its workers where there are several
    int64_t workers;
};

/// The operators of a block of Qwen3-0.6B, each alone and once, with 1, 8 and 512 rows. Products with BF16
/// weights for one worker and for two, those with other weights in fewer shapes.
std::vector<Subject> operators_of_a_block(const machine::Machine& machine);

}  // namespace tessera
