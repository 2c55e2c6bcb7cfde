#pragma once

#include <vector>

#include "compiler/bench/timed_model.h"

namespace tessera::benchmark {

/// The kernels of such a run at the present depth, by specialisation and in the order of execution. Times are
/// medians of `repeat` runs. All ranks of a model call it together; of an exchange the rank counts that
/// arrives last, of all else this one.
/// @param predictor for predictions, or null @throws Error if the code has no marks
std::vector<BenchPhase> time_phases(TimedModel& model, BenchCase::Kind kind, int64_t tokens, int64_t repeat,
                                    const StepPredictor* predictor);

}  // namespace tessera::benchmark
