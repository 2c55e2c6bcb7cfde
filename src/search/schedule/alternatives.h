#pragma once

#include <vector>

#include "search/schedule/search.h"

namespace tessera::schedule {

/// Kernels of a whole block.
struct Alternative {
    std::vector<SolvedKernel> kernels;  ///< in the order of execution
    double seconds = 0;                 ///< as estimated
};

/// The choice as text, which tells it apart from others of the block.
std::string key_of(const BlockContext& block, const Alternative& alternative);

/// The `most` choices that are estimated to take least time, the fastest first: the cheapest structures of
/// the schedule with the best tiles of each kernel, and with other tiles or another leaf in one of them.
std::vector<Alternative> alternatives(BlockContext& block, const Schedule& schedule,
                                      const SearchOptions& options, size_t most);

}  // namespace tessera::schedule
