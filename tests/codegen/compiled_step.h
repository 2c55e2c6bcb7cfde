#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph_interpreter.h"
#include "plan/plan.h"

/// A plan's code, compiled and called in this process: the emitted side of the differential tests.
namespace tessera::testing {

/// Compiler flags under which this many F32 lanes are one register of the host, or none if it has no such registers.
std::vector<std::string> flags_for_lanes(int64_t lanes);
/// Lane counts that the host can run, widest first; 1 lane is always there.
std::vector<int64_t> host_lanes();

class CompiledStep {
public:
    /// Lowers, emits and compiles. @throws Error where the plan does not lower or the compiler refuses the code.
    CompiledStep(const Graph& graph, const Plan& plan, int64_t lanes);
    CompiledStep(CompiledStep&&) noexcept;
    ~CompiledStep();

    /// Calls the first specialisation whose bounds hold, with the inputs of an interpreter's call. Outputs and states come
    /// back in row-major order, whatever the plan's layouts.
    GraphResult run(const GraphCall& call) const;

    const std::string& code() const { return code_; }

private:
    struct Library;
    Graph graph_;
    Plan plan_;
    std::string code_;
    std::unique_ptr<Library> library_;
};

/// The largest difference of two results over outputs and states, divided by the range of the expected values (at least
/// 1e-3), and where it is.
struct Difference {
    double relative = 0;
    std::string where;
};
Difference difference(const GraphResult& got, const GraphResult& expected);

}  // namespace tessera::testing
