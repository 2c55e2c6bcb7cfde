#pragma once

#include <cstdint>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::movement {

/// The phase of every kernel, in the order of execution: kernels with no barrier between them are in one, as
/// some worker may run one while another worker runs the other. The end of a repeated block and its beginning
/// are in one phase unless there is a barrier before its first kernel. With one worker, every kernel is a
/// phase.
std::vector<int64_t> phases(const Program& program);

}  // namespace tessera::movement
