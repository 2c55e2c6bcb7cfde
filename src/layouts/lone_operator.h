#pragma once

#include <span>

#include "layouts/form_cost.h"

namespace tessera::layouts {

/// A graph that has one operator in one form, between tensors that are there, and its plan without kernels.
/// Its points are those at which the specialisation of the initial plan runs.
struct LoneOperator {
    LoneOperator(const egraph::Operator& op, std::span<const Operand> operands, const Graph& whole,
                 const plan::Plan& initial, const plan::SpecialisationPlan& specialisation);

    const Block& block() const { return graph.blocks.front(); }
    const Node& node() const { return block().nodes.front(); }
    const plan::SpecialisationPlan& specialisation() const { return plan.specialisations.front(); }

    Graph graph;
    plan::Plan plan;

private:
    ValueId add(const std::string& name, TensorType type, bool is_constant);
};

}  // namespace tessera::layouts
