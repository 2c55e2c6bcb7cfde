#include "lowering/movement/phases.h"

#include <algorithm>

namespace tessera::movement {

std::vector<int64_t> phases(const Program& program) {
    std::vector<int64_t> phase;
    int64_t next = 0;
    for (const ProgramBlock& block : program.blocks) {
        const size_t first = phase.size();
        for (const Kernel& kernel : block.kernels) {
            const bool is_new = phase.empty() || kernel.barrier || program.workers == 1;
            phase.push_back(is_new ? next++ : phase.back());
        }
        if (block.repeat == 1 || block.kernels.empty() || block.kernels.front().barrier ||
            program.workers == 1)
            continue;
        const int64_t end = phase.back(), begin = phase[first];
        std::replace(phase.begin() + static_cast<ptrdiff_t>(first), phase.end(), end, begin);
    }
    return phase;
}

}  // namespace tessera::movement
