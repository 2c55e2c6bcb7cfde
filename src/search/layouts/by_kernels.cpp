// A form is tried as the compiler would compile it: as a kernel of its own.
#include <algorithm>
#include <tuple>

#include "search/layouts/form_cost.h"
#include "search/planner/leaf_choice.h"
#include "search/planner/priced.h"

namespace tessera::layouts {
namespace {

/// In the order of default planning: the time of `loops` for a product, which adds one number after the
/// other, is less certain than the times of its micro-kernels.
bool is_before(const cost::PricedChoice& a, const cost::PricedChoice& b) {
    const auto rank = [](const cost::PricedChoice& timed) {
        return std::tuple(!timed.price.why_infinite.empty(), timed.leaf.kernel->is_plain,
                          timed.price.seconds);
    };
    return rank(a) < rank(b);
}

/// The first micro-kernel with a time under which a kernel lowers.
FormCost cheapest(cost::LoneOperator& alone, const planner::PlannerOptions& options) {
    std::vector<cost::PricedChoice> timed;
    for (const plan::Leaf& leaf : planner::leaf_candidates(alone.node(), alone.specialisation(), options))
        timed.push_back({leaf, alone.by(leaf)});
    std::stable_sort(timed.begin(), timed.end(), is_before);
    std::string why = "no micro-kernel implements it";
    for (const auto& [leaf, price] : timed) {
        if (!price.why_infinite.empty()) return {.why_infinite = price.why_infinite};
        const auto refusal = alone.why_no_strides(leaf);
        if (!refusal) return {.seconds = price.seconds, .by = plan::print(plan::Nest{{}, {leaf}})};
        why = refusal->text();
    }
    return {.why_infinite = why};
}

}  // namespace

FormCosts by_kernels(const Graph& graph, const plan::Plan& initial,
                     const plan::SpecialisationPlan& specialisation, const planner::PlannerOptions& options) {
    return [&options, sizes = cost::operator_sizes(graph, initial, specialisation)](
               const egraph::Operator& op, std::span<const Operand> operands) {
        cost::LoneOperator alone(std::get<DefinitionPtr>(op.what), operands, op.results, sizes,
                                 *options.costs, planner::level_of_constants(options));
        return cheapest(alone, options);
    };
}

}  // namespace tessera::layouts
