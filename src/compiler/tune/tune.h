#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/measure/options.h"
#include "cost/step_cost.h"
#include "ir/graph.h"
#include "lowering/plan/plan.h"
#include "machine/machine.h"
#include "search/planner/tuning_log.h"

namespace tessera::tune {

/// A compiled model on the machine on which it is tuned.
struct Subject {
    const Graph& graph;  ///< with the copies of the plan
    const plan::Plan& plan;
    const machine::Machine& machine;
    /// Symbols and contents of indices at a point of the graph.
    std::function<cost::SizePoint(const Point& point)> sizes;
};

struct TuneOptions {
    size_t top = 8;             ///< choices that are measured in one round
    int64_t rounds = 4;         ///< of one kernel, at most
    size_t samples = 0;         ///< drawn over the whole space and measured too
    uint64_t seed = 1;          ///< of the samples
    double least_share = 0.01;  ///< kernels that take less of their step are left as they are
    measure::MeasureOptions measuring;
    /// Told of each kernel before it is measured: its position, how many there are, and its operators.
    std::function<void(size_t at, size_t count, const std::string& name)> on_kernel = {};
    /// Told why no choice of that kernel can be measured.
    std::function<void(const std::string& why)> on_refused = {};
    /// Told the log after each kernel; false ends tuning.
    std::function<bool(const planner::TuningLog& log)> on_log = {};
};

/// Guided search (paper 002, section V): of each kernel of the plan the choices of least estimated time are
/// compiled and timed, `top` in a round, until a round finds nothing faster. Entries that `log` has for this
/// machine are not measured again.
planner::TuningLog tune(const Subject& subject, planner::TuningLog log, const TuneOptions& options);

}  // namespace tessera::tune
