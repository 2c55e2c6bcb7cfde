#pragma once

#include "chip/progress_weights.h"

namespace tessera::chip {

struct TogetherBoundOptions {
    size_t work = 300'000'000;      ///< weights and pairs of rows, times iterations
    size_t most_pairs = 3'000'000;  ///< beyond it there is no bound
};

struct TogetherBound {
    double cycles = 0;  ///< no total is below, over all rows, orders and slots; 0: there are too many pairs
    ProgressWeights weights;  ///< that prove it
};

/// The largest bound of this kind that some iterations find. @pre there is a valid schedule
TogetherBound together_bound(const ScheduleProblem& problem, const TogetherBoundOptions& options = {});

}  // namespace tessera::chip
