#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/priced_block.h"
#include "ir/graph.h"
#include "lowering/plan/constants.h"
#include "lowering/plan/plan.h"
#include "lowering/refusal.h"

namespace tessera::cost {

/// An operator that is a kernel of its own, each worker doing an equal part.
struct LonePrice {
    double seconds = 0;             ///< the sum over the points, by their weights
    std::vector<double> at_points;  ///< the seconds at each
    std::vector<double> near;       ///< with everything near, without waiting for the memory
    std::vector<double> alone;      ///< with the waits of one worker, if the memory did not limit all
                                    ///< together
    std::string why_infinite;       ///< empty where there is a time
};

/// One way to compute an operator, with its price.
struct PricedChoice {
    plan::Leaf leaf;
    LonePrice price;
};

/// The price of an operator of the block by this micro-kernel.
LonePrice lone_price(PricedBlock& block, const plan::Leaf& leaf);

/// Sizes at which operators are priced outside of any graph, and the workers that share them.
struct OperatorSizes {
    std::vector<DimSymbol> symbols;
    std::vector<Point> points;                ///< none: the upper bounds
    plan::SpecialisationPlan specialisation;  ///< its name and bounds alone
    int64_t workers = 1;
};

/// Those at which the specialisation of the plan runs.
OperatorSizes operator_sizes(const Graph& graph, const plan::Plan& plan,
                             const plan::SpecialisationPlan& specialisation);

struct Operand {
    TensorType type;  ///< with its layout
    bool is_constant = false;
};

/// Prices an operator by its definition and by how its tensors lie. Lowering and the evaluator read graphs
/// and plans, so that it stands in one of its own, between tensors that are there.
class LoneOperator {
public:
    /// @param constants the level of memory in which constants lie
    /// @pre the model outlives it
    LoneOperator(DefinitionPtr definition, std::span<const Operand> operands,
                 std::span<const TensorType> results, const OperatorSizes& sizes, const CostModel& model,
                 size_t constants);
    LoneOperator(const LoneOperator&) = delete;
    LoneOperator& operator=(const LoneOperator&) = delete;

    const Node& node() const { return block().nodes.front(); }
    const plan::SpecialisationPlan& specialisation() const { return plan_.specialisations.front(); }
    const std::vector<Dim>& shape(int tensor) const;  ///< of a tensor, as Definition::tensors
    std::vector<Layout> layouts() const;              ///< likewise, of all

    LonePrice by(const plan::Leaf& leaf) { return lone_price(priced_, leaf); }
    /// Why the operator does not lower by this micro-kernel; nothing if it does.
    std::optional<lowering::Refusal> why_no_strides(const plan::Leaf& leaf) const;

    /// The roof (Williams et al., 2009), as if there were a micro-kernel for everything that a unit takes:
    /// the larger of computing and of the transfers that the evaluator counts.
    /// @param matrix computes the operator's products at its peak; null: the vector unit does everything by
    /// the lanes that take least time (typical_rates.h), an element at a time where these do not lie side by
    /// side
    LonePrice by_roof(const machine::ComputeUnit* matrix);

private:
    const Block& block() const { return graph_.blocks.front(); }
    ValueId add(const std::string& name, TensorType type, bool is_constant);
    double seconds_by_lanes(const std::vector<int64_t>& extents, const std::vector<Layout>& layouts) const;

    const CostModel& model_;
    Graph graph_;
    plan::Plan plan_;
    plan::ConstantSection constants_;
    lowering::LoweringInput input_;
    PricedBlock priced_;
};

}  // namespace tessera::cost
