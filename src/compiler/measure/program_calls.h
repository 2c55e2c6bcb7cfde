#pragma once

#include <vector>

#include "compiler/measure/call_memory.h"
#include "compiler/measure/near_memory.h"
#include "compiler/measure/samples.h"
#include "cost/step_cost.h"
#include "lowering/movement/program.h"
#include "run/runtime/shared_library.h"

namespace tessera::measure {

/// One way in which a graph was lowered.
struct LoweredForm {
    movement::Program program;  ///< its name among the forms is its specialisation
    int64_t constants_bytes = 0, arena_bytes = 0;
};

/// Calls of the forms of one graph, compiled together, by all of the threads. Every call reads constants that
/// were not read for long, since a step of a model comes back to them after all others.
class ProgramCalls {
public:
    /// @throws Error as compile_probe
    ProgramCalls(const Graph& graph, const std::vector<LoweredForm>& forms, const machine::Machine& machine,
                 const MeasureOptions& options, PinnedThreads& threads);

    /// Seconds of a call of a form at these sizes, in samples of `seconds` at least. The calls must outlive
    /// it.
    Sample sample(size_t form, const cost::SizePoint& at, double seconds);

private:
    const Graph& graph_;
    const std::vector<LoweredForm>& forms_;
    PinnedThreads& threads_;
    const runtime::SharedLibrary code_;
    const int64_t stride_, places_;
    NearMemory constants_;
    int64_t next_ = 0;  ///< the place of the constants of the next call
};

}  // namespace tessera::measure
