#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "search/egraph/saturate.h"
#include "search/extraction/extract.h"

namespace tessera::rules {

/// Cost of an operator over operands of these types, in seconds or any other unit: at least 0; infinite if it
/// cannot be computed. A pure function. Not called for leaves and projections, which are free.
using OperatorCost = std::function<double(const egraph::Operator&, std::span<const TensorType> operands)>;

struct RewriteOptions {
    OperatorCost cost;
    /// Limits for each block. An e-graph of the algebra is small: larger numbers mean that rules chase each
    /// other.
    egraph::SaturationOptions saturation = {.nodes = 10'000, .iterations = 30};
    int64_t conflicts = 20'000;          ///< of the extraction of each block
    std::set<std::string> without = {};  ///< families of rules that are left out (algebra_rules.h)
};

/// The result for one block.
struct BlockRewrite {
    std::string block;
    egraph::SaturationReport saturation;
    extraction::Status status = extraction::Status::kOptimal;
    double cost_before = 0;  ///< of one repetition, in the unit of the costs; infinite with composites
    double cost_after = 0;
    double bound = 0;  ///< no choice of the e-graph costs less
    bool is_changed = false;
    std::string why_kept;  ///< if a cheaper block could not replace this one; else empty
};

struct Rewritten {
    Graph graph;
    std::vector<BlockRewrite> blocks;
};

/// Replaces each block by the cheapest one that the rules of the algebra prove equal to it
/// (search/rules/algebra/algebra_rules.h): block -> e-graph, saturation, exact extraction, block. If choices
/// are equally cheap, the nodes of the graph stay; a block without gain is not touched.
/// @pre the graph is verified @throws Error for a composite that has no decomposition
Rewritten rewrite(const Graph& graph, const RewriteOptions& options);

/// "57 e-nodes, saturated, optimal, unchanged": for all blocks together.
std::string summary(const std::vector<BlockRewrite>& blocks);
/// The effect of limits, if one cut the rewriting short; else empty.
std::string cut_short(const std::vector<BlockRewrite>& blocks);
/// A line for each block, and one below it for each rule that added an equality.
std::string print(const std::vector<BlockRewrite>& blocks);

}  // namespace tessera::rules
