#include "ir/ops/layer_norm.h"

#include <fmt/core.h>

#include "ir/ops/outer_axes.h"
#include "support/error.h"

namespace tessera::ops {
Composite layer_norm(double epsilon, double offset) {
    Composite composite{.kind = std::string(kLayerNorm), .attributes = {{"epsilon", epsilon}}};
    if (offset != 0) composite.attributes[kNormOffset] = offset;
    return composite;
}

DefinitionPtr layer_mean(Symbols symbols, const std::vector<Dim>& outer, int64_t width) {
    const OuterAxes all = outer_axes(outer);
    return define(symbols, fmt::format(R"(op layer_mean({iterators}, d*: {width})
in  X f32[{map}, d]
out mean f32[{map}] = sum(X) / {width}
)",
                                       fmt::arg("iterators", all.iterators), fmt::arg("map", all.map),
                                       fmt::arg("width", width)));
}

// The squares of differences, not the difference of squares: that loses the digits of a mean which is large
// beside the deviation.
DefinitionPtr layer_deviation(Symbols symbols, const std::vector<Dim>& outer, int64_t width, double epsilon) {
    const OuterAxes all = outer_axes(outer);
    return define(symbols, fmt::format(R"(op layer_deviation({iterators}, d*: {width})
in  X f32[{map}, d]
in  mean f32[{map}]
out reciprocal f32[{map}] = rsqrt(sum((X - mean) * (X - mean)) / {width} + {epsilon})
)",
                                       fmt::arg("iterators", all.iterators), fmt::arg("map", all.map),
                                       fmt::arg("width", width), fmt::arg("epsilon", epsilon)));
}

DefinitionPtr layer_apply(Symbols symbols, const std::vector<Dim>& outer, int64_t width,
                          const LayerNormTypes& types) {
    const OuterAxes all = outer_axes(outer);
    const std::string map = scale_map(types.is_of_heads);
    const auto operand = [&](const char* word, const std::optional<ElementType>& type,
                             const std::string& own) {
        return type ? fmt::format("in  {} {}[{}]\n", word, name(*type), own) : std::string();
    };
    const std::string scale = types.offset == 0 ? " * W" : fmt::format(" * (W + {})", types.offset);
    return define(symbols,
                  fmt::format(R"(op layer_apply({iterators}, d: {width})
in  X f32[{map}, d]
in  mean f32[{map}]
in  reciprocal f32[{map}]
{weight}{bias}out Y {result}[{map}, d] = (X - mean) * reciprocal{scale}{shift}
)",
                              fmt::arg("iterators", all.iterators), fmt::arg("map", all.map),
                              fmt::arg("width", width), fmt::arg("weight", operand("W", types.weight, map)),
                              fmt::arg("bias", operand("bias", types.bias, map)),
                              fmt::arg("result", name(types.result)),
                              fmt::arg("scale", types.weight ? scale : std::string()),
                              fmt::arg("shift", types.bias ? " + bias" : "")));
}

void decompose_layer_norm(BlockBuilder& block, const Node& node) {
    const Graph& graph = block.graph();
    const size_t rank = node.operands.empty() ? 0 : graph[node.operands[0]].type.shape.size();
    if (rank != 2 && rank != 3)
        throw Error(std::string(kLayerNorm), node.name,
                    fmt::format("operand X has {} axes, expected 2 or 3", rank));
    std::vector<Dim> outer = graph[node.operands[0]].type.shape;
    const Dim width = outer.back();
    outer.pop_back();
    if (!width.is_constant())
        throw Error(std::string(kLayerNorm), node.name, "the normalised axis must have a constant extent");
    LayerNormTypes types{
        .weight = std::nullopt, .bias = std::nullopt, .result = graph[node.results[0]].type.element};
    const bool has_scale = node.operands.size() > 1;
    types.is_of_heads = has_scale && rank == 3 && graph[node.operands[1]].type.shape.size() == 2;
    if (has_scale) types.weight = operand_type(graph, node, 1, types.is_of_heads ? 2 : 1).element;
    if (node.operands.size() > 2)
        types.bias = operand_type(graph, node, 2, types.is_of_heads ? 2 : 1).element;
    if (std::get<Composite>(node.op).attributes.contains(kNormOffset))
        types.offset = real_attribute(node, kNormOffset);
    const ValueId x = node.operands[0];
    const ValueId mean = block.add(node.name + "_mean", layer_mean(graph.symbols, outer, width.factor), {x});
    const ValueId reciprocal = block.add(
        node.name + "_reciprocal",
        layer_deviation(graph.symbols, outer, width.factor, real_attribute(node, "epsilon")), {x, mean});
    std::vector<ValueId> operands = {x, mean, reciprocal};
    operands.insert(operands.end(), node.operands.begin() + 1, node.operands.end());
    block.add_into(node.name + "_apply", layer_apply(graph.symbols, outer, width.factor, types),
                   std::move(operands), node.results[0]);
}

}  // namespace tessera::ops
