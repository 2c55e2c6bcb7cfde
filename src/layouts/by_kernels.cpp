// A form is tried as the compiler would compile it: as the only kernel of a graph that has nothing else.
#include <algorithm>

#include "layouts/lone_operator.h"
#include "movement/lower.h"
#include "planner/timed_leaves.h"
#include "support/error.h"

namespace tessera::layouts {
namespace {

/// Of the micro-kernels that have a time the one of least time under which a kernel lowers.
FormCost cheapest(const LoneOperator& alone, const PlannerOptions& options) {
    std::vector<TimedLeaf> timed =
        timed_leaves(alone.graph, alone.plan, alone.node(), alone.specialisation(), options);
    std::stable_sort(timed.begin(), timed.end(), [](const TimedLeaf& a, const TimedLeaf& b) {
        return a.why_infinite.empty() != b.why_infinite.empty() ? a.why_infinite.empty()
                                                                : a.seconds < b.seconds;
    });
    const ConstantSection constants = constant_section(alone.graph, alone.plan);
    const LoweringInput input = lowering_input(alone.graph, alone.plan, alone.specialisation(), constants);
    std::string why = "no micro-kernel implements it";
    for (TimedLeaf& candidate : timed) {
        if (!candidate.why_infinite.empty()) return {.why_infinite = candidate.why_infinite};
        const Nest nest{{}, {candidate.leaf}};
        try {
            (void)lower_kernel(input, alone.block(), {alone.block().name, nest});
            return {.seconds = candidate.seconds, .by = print(nest)};
        } catch (const Error& refusal) {
            why = refusal.what();
        }
    }
    return {.why_infinite = why};
}

}  // namespace

FormCosts by_kernels(const Graph& graph, const SpecialisationPlan& specialisation,
                     const PlannerOptions& options) {
    TESSERA_CHECK(options.costs);
    return [&](const egraph::Operator& op, std::span<const Operand> operands) {
        return cheapest(LoneOperator(op, operands, graph, specialisation), options);
    };
}

}  // namespace tessera::layouts
