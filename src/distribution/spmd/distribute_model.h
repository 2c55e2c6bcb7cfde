#pragma once

#include <functional>
#include <string>

#include "distribution/distribute.h"
#include "distribution/spmd/model_problem.h"

namespace tessera::spmd {

/// A model on nested devices: the best form of the carried values, and the plan with it.
struct ModelDistribution {
    distribution::Form carried;
    ModelProblem model;
    distribution::Distribution found;
};

/// True for the forms in which a node may be distributed, of those that are correct; empty: all.
using AllowedForms = std::function<bool(const Node& node, const std::vector<distribution::Form>& forms)>;

class ModelSearch {
public:
    /// Derives the choices of all operators. @pre the graph is decomposed and verified, and outlives this
    ModelSearch(const Graph& graph, Cluster cluster, ModelOptions options);

    /// The fastest plan within the memory, over all forms that the carried values may have between
    /// repetitions. Infeasible only if every form is: then the plan of the least memory.
    ModelDistribution best(const distribution::DistributeOptions& search = {},
                           const AllowedForms& allows = {}) const;

private:
    /// Gives the choices of an operator the seconds of their parts, and leaves out what nothing computes.
    void price(const ModelProblem& model, size_t op);

    const Graph& graph_;
    Cluster cluster_;
    ModelOptions options_;
    distribution::OperatorChoices choices_;
};

/// The columns and rows that Megatron-LM splits by hand (Shoeybi et al., 2019): products named `q`, `k`, `v`,
/// `gate`, `up`, .. by columns, heads staying whole, `output` and `down` by rows, the head by words. On
/// levels whose count does not divide heads or columns, all devices compute the same. What is in between is
/// free.
/// @pre the graph came from the importer, whose names it knows
/// It outlives the result.
AllowedForms megatron(const Graph& graph, const Cluster& cluster);

}  // namespace tessera::spmd
