#include "ir/ops/layer_norm.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {

Composite layer_norm(double epsilon) {
    return {.kind = std::string(kLayerNorm), .attributes = {{"epsilon", epsilon}}};
}

DefinitionPtr layer_mean(Symbols symbols, const Dim& rows, int64_t width) {
    return define(symbols, fmt::format(R"(op layer_mean(t: {0}, d*: {1})
in  X f32[t, d]
out mean f32[t] = sum(X) / {1}
)",
                                       text(rows), width));
}

// The squares of differences, not the difference of squares: that loses the digits of a mean which is large
// beside the deviation.
DefinitionPtr layer_deviation(Symbols symbols, const Dim& rows, int64_t width, double epsilon) {
    return define(symbols, fmt::format(R"(op layer_deviation(t: {0}, d*: {1})
in  X f32[t, d]
in  mean f32[t]
out reciprocal f32[t] = rsqrt(sum((X - mean) * (X - mean)) / {1} + {2})
)",
                                       text(rows), width, epsilon));
}

DefinitionPtr layer_apply(Symbols symbols, const Dim& rows, int64_t width, const LayerNormTypes& types) {
    return define(symbols,
                  fmt::format(R"(op layer_apply(t: {rows}, d: {width})
in  X f32[t, d]
in  mean f32[t]
in  reciprocal f32[t]
in  W {weight}[d]
in  bias {bias}[d]
out Y {result}[t, d] = (X - mean) * reciprocal * W + bias
)",
                              fmt::arg("rows", text(rows)), fmt::arg("width", width),
                              fmt::arg("weight", name(types.weight)), fmt::arg("bias", name(types.bias)),
                              fmt::arg("result", name(types.result))));
}

void decompose_layer_norm(BlockBuilder& block, const Node& node) {
    const Graph& graph = block.graph();
    const std::vector<Dim> shape = operand_type(graph, node, 0, 2).shape;
    const Dim &rows = shape[0], &width = shape[1];
    if (!width.is_constant())
        throw Error(std::string(kLayerNorm), node.name, "the normalised axis must have a constant extent");
    const LayerNormTypes types{operand_type(graph, node, 1, 1).element,
                               operand_type(graph, node, 2, 1).element, graph[node.results[0]].type.element};
    const ValueId x = node.operands[0];
    const ValueId mean = block.add(node.name + "_mean", layer_mean(graph.symbols, rows, width.factor), {x});
    const ValueId reciprocal = block.add(
        node.name + "_reciprocal",
        layer_deviation(graph.symbols, rows, width.factor, real_attribute(node, "epsilon")), {x, mean});
    block.add_into(node.name + "_apply", layer_apply(graph.symbols, rows, width.factor, types),
                   {x, mean, reciprocal, node.operands[1], node.operands[2]}, node.results[0]);
}

}  // namespace tessera::ops
