#pragma once

#include <string>
#include <vector>

#include "ir/graph_interpreter.h"
#include "lowering/movement/difference.h"
#include "lowering/movement/interpret/interpret.h"
#include "lowering/plan/plan.h"

namespace tessera::testing {

/// The programs of a plan, interpreted.
class InterpretedPlan {
public:
    /// @throws Error where the plan does not lower.
    InterpretedPlan(const Graph& graph, const plan::Plan& plan);

    struct Run {
        GraphResult result;
        std::vector<movement::RunFault> faults;
        std::string faults_text() const;
    };
    /// The first specialisation whose bounds hold, with the inputs of a call of the graph. Memory that the
    /// step has not written is NaN.
    Run run(const GraphCall& call, const movement::InterpretOptions& options = {}) const;
    const std::vector<movement::Program>& programs() const { return programs_; }

private:
    Graph graph_;
    plan::Plan plan_;
    std::vector<movement::Program> programs_;
    std::vector<movement::Interpreter> interpreters_;
};

/// The first specialisation whose bounds the symbols are within.
size_t specialisation_for(const plan::Plan& plan, const GraphCall& call);

}  // namespace tessera::testing
