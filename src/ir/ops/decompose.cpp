#include "ir/ops/decompose.h"

#include <algorithm>
#include <utility>

#include "ir/ops/composite.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

const ops::CompositeKind& find_kind(const Node& node) {
    const std::string& kind = std::get<Composite>(node.op).kind;
    const auto kinds = ops::composite_kinds();
    const auto found =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.kind == kind; });
    if (found != kinds.end()) return *found;
    std::string known;
    for (const auto& each : kinds) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.kind);
    throw Error("decompose", node.name, fmt::format("there is no composite operator {}", kind),
                "known: " + known);
}

}  // namespace

Graph decompose(const Graph& graph) {
    Graph result = graph;
    for (Block& block : result.blocks) {
        const std::vector<Node> nodes = std::exchange(block.nodes, {});
        // The composite says which results its decomposition rounds.
        ops::BlockBuilder builder(result, block, Rounding::kWeights);
        for (const Node& node : nodes) {
            if (node.definition())
                block.nodes.push_back(node);
            else
                find_kind(node).decompose(builder, node);
        }
    }
    return result;
}

}  // namespace tessera::ops
