#pragma once

#include <functional>
#include <span>
#include <string>

#include "cost/lone_operator.h"
#include "search/egraph/operator.h"
#include "search/planner/default_planner.h"

/// Cost of one operator with its operands and result in given layouts.
namespace tessera::layouts {

using cost::Operand;

/// Cost of one repetition, summed over all sizes of a specialisation by their weights.
struct FormCost {
    double seconds = 0;
    std::string by;            ///< the micro-kernel or unit, for people
    std::string why_infinite;  ///< nothing computes this form; else empty
};

using FormCosts = std::function<FormCost(const egraph::Operator&, std::span<const Operand>)>;

// The arguments of both must outlive the returned functions. The specialisation is one of the initial plan.

/// Costs by the existing micro-kernels: the cheapest by the machine's measurements among those under which a
/// kernel of this operator alone lowers.
FormCosts by_kernels(const Graph& graph, const plan::Plan& initial,
                     const plan::SpecialisationPlan& specialisation, const planner::PlannerOptions& options);

/// Costs by the machine's units alone, as if there were a micro-kernel for everything that a unit takes: the
/// potential of a described machine. A product runs at the peak of the fastest unit whose lanes its tensors
/// have; anything else by lanes of a vector, an element at a time where these do not lie side by side.
FormCosts by_units(const Graph& graph, const plan::Plan& initial,
                   const plan::SpecialisationPlan& specialisation, const machine::Machine& machine);

}  // namespace tessera::layouts
