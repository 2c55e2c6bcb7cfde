// A form is tried as the compiler would compile it: as the only kernel of its own graph.
#include <algorithm>
#include <tuple>

#include "layouts/lone_operator.h"
#include "lowering/lower.h"
#include "planner/priced.h"
#include "planner/timed_leaves.h"

namespace tessera::layouts {
namespace {

/// In the order of default planning: the time of `loops` for a product, which adds one number after the
/// other, is less certain than the times of its micro-kernels.
bool is_before(const planner::TimedLeaf& a, const planner::TimedLeaf& b) {
    const auto rank = [](const planner::TimedLeaf& timed) {
        return std::tuple(!timed.why_infinite.empty(), timed.leaf.kernel->is_plain, timed.seconds);
    };
    return rank(a) < rank(b);
}

/// The first micro-kernel with a time under which a kernel lowers.
FormCost cheapest(const LoneOperator& alone, const planner::PlannerOptions& options) {
    const plan::ConstantSection constants = plan::constant_section(alone.graph, alone.plan);
    const lowering::LoweringInput input =
        lowering::lowering_input(alone.graph, alone.plan, alone.specialisation(), constants);
    cost::PricedBlock priced = planner::priced_block(input, alone.block(), options);
    std::vector<planner::TimedLeaf> timed =
        planner::timed_leaves(priced, alone.node(), alone.specialisation(), options);
    std::stable_sort(timed.begin(), timed.end(), is_before);
    std::string why = "no micro-kernel implements it";
    for (planner::TimedLeaf& candidate : timed) {
        if (!candidate.why_infinite.empty()) return {.why_infinite = candidate.why_infinite};
        const plan::Nest nest{{}, {candidate.leaf}};
        const auto refusal = lowering::why_no_strides(input, alone.block(), {alone.block().name, nest});
        if (!refusal) return {.seconds = candidate.seconds, .by = plan::print(nest)};
        why = refusal->text();
    }
    return {.why_infinite = why};
}

}  // namespace

FormCosts by_kernels(const Graph& graph, const plan::Plan& initial,
                     const plan::SpecialisationPlan& specialisation, const planner::PlannerOptions& options) {
    return [&](const egraph::Operator& op, std::span<const Operand> operands) {
        return cheapest(LoneOperator(op, operands, graph, initial, specialisation), options);
    };
}

}  // namespace tessera::layouts
