#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/backend.h"
#include "backend/exchanges.h"
#include "backend/taking_turns.h"
#include "ir/graph_interpreter.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/planned_graphs.h"
#include "lowering/movement/program.h"
#include "lowering/plan/plan.h"
#include "run/runtime/communicator.h"
#include "tessera/step.h"

/// Code of plans, compiled and called in this process: the emitted side of the differential tests.
namespace tessera::testing {

/// Compiler flags under which this many F32 lanes are one register of the host, or none if it has no such
/// registers.
std::vector<std::string> flags_for_lanes(int64_t lanes);
/// Lane counts that the host can run, widest first; 4 lanes are always there.
std::vector<int64_t> host_lanes();

/// Many plans, of one graph or of several, in one translation unit: the compiler reads NTT once for all of
/// them.
class CompiledPlans {
public:
    /// @param lanes of registers that the code may use
    /// @param tolerance of `run`, by range and by row
    explicit CompiledPlans(int64_t lanes, const backend::Backend& backend = backend::default_backend(),
                           double tolerance = kTolerance);
    CompiledPlans(CompiledPlans&&) noexcept;
    ~CompiledPlans();

    /// Lowers the plan; its place in the unit is returned. @throws Error where the plan does not lower.
    /// @param exchanges of the graph; names of nodes differ between graphs that have some
    size_t add(const Graph& graph, const plan::Plan& plan, const backend::Exchanges& exchanges = {});
    /// The programs lowered by `add`, one for each specialisation.
    const std::vector<movement::Program>& programs(size_t index) const;
    /// Emits and compiles all plans. @throws Error with the compiler's first complaints; the source is kept
    /// then.
    void compile();

    /// Calls the first specialisation whose bounds hold, with the inputs of an interpreter's call, interprets
    /// the same program, and fails the test where the two differ or the interpreter finds fault. Outputs and
    /// states come back in row-major order, whatever the plan's layouts. Memory that the step may not read,
    /// or has not written yet, is NaN; memory that it may not write is watched. @throws Error for a write
    /// outside.
    GraphResult run(size_t index, const GraphCall& call, Turns turns = Turns::kDescending) const;
    /// Likewise as one rank of several, which all call this, and without the interpreter.
    GraphResult run(size_t index, const GraphCall& call, runtime::Communicator& ranks) const;

private:
    struct Entry;
    struct Library;
    TesseraStepFunction function(size_t index, size_t specialisation) const;

    int64_t lanes_;
    backend::Backend backend_;
    double tolerance_;
    std::vector<Entry> entries_;
    backend::Exchanges exchanges_;
    std::unique_ptr<Library> library_;
};

/// Names of all back ends, and that of a test for one of them.
std::vector<std::string> backend_names();
std::string name_of_test(const ::testing::TestParamInfo<std::string>& backend);

/// Compiles all plans in one unit and runs them at kTokens, the workers in any order, against their graphs.
void expect_compiled_plans_compute(int64_t lanes, const std::vector<PlannedGraph>& plans,
                                   const backend::Backend& backend = backend::default_backend(),
                                   double tolerance = kTolerance);

/// The seeds in [first, end) of which the graphs are made for so many lanes.
std::vector<uint64_t> seeds_of_lanes(uint64_t first, uint64_t end, int64_t lanes);

}  // namespace tessera::testing
