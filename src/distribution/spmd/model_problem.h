#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "distribution/problem.h"
#include "distribution/spmd/cluster.h"
#include "distribution/spmd/local_operator.h"
#include "ir/graph.h"

/// The graph of a step as a problem of distribution (docs/distribution.md, "Models").
namespace tessera::spmd {

struct ModelOptions {
    /// Values of symbols at which states are held; others at their upper bounds.
    std::map<std::string, int64_t> held = {};
    facts::Cut cut = facts::Cut::kEvenly;
    distribution::CollectiveModel collectives = distribution::CollectiveModel::kFastest;
    /// Only what the run time can do: no box but slices on constants, on elements of less than a byte and on
    /// values that are too large to exist whole, no partial results but sums, products, maxima and minima in
    /// F32.
    bool is_for_execution = false;
    /// Times of operators; empty: rooflines of the cluster's rates.
    LocalSeconds seconds = {};
};

/// The origin of a value of the problem.
struct ValuePlace {
    ValueId value;
    int block = -1;                             ///< where it is carried in; -1: the value itself
    int home = 0;                               ///< the block in which it is made or first read
    ValueKind kind = ValueKind::kIntermediate;  ///< kState of what an update makes
};

struct ModelProblem {
    distribution::Problem problem;
    std::vector<std::pair<int, int>> nodes;               ///< of each operator: block, node
    std::vector<ValuePlace> places;                       ///< of each value
    std::vector<std::pair<std::string, int64_t>> blocks;  ///< names and repetitions
    /// The problem's value that a tensor of a node in this block is.
    int value_of(ValueId value, int block) const;
    std::map<std::pair<int, int>, int> numbers;  ///< (value, block or -1) -> value of the problem
};

/// Forms that a carried value may have from one repetition to the next.
std::vector<distribution::Form> carried_forms(const Graph& graph, const Cluster& cluster, facts::Cut cut);

/// The problem in which every value that a repeated block carries has this form between repetitions, and for
/// the blocks before and behind. Times are means over the graph's points by their weights.
/// @pre the graph is decomposed and verified @throws Error for a state that is read before its update
ModelProblem model_problem(const Graph& graph, const Cluster& cluster, const ModelOptions& options,
                           const distribution::Form& carried);

/// The shape with 1 for extents that depend on symbols, which are never split.
std::vector<int64_t> fixed_shape(const TensorType& type);

}  // namespace tessera::spmd
