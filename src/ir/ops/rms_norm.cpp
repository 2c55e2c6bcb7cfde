#include "ir/ops/rms_norm.h"

#include <fmt/core.h>

#include "ir/ops/outer_axes.h"
#include "support/error.h"

namespace tessera::ops {

Composite rms_norm(double epsilon, double offset) {
    Composite composite{.kind = std::string(kRmsNorm), .attributes = {{"epsilon", epsilon}}};
    if (offset != 0) composite.attributes[kNormOffset] = offset;
    return composite;
}

DefinitionPtr rms_reduce(Symbols symbols, const std::vector<Dim>& outer, int64_t width, double epsilon) {
    const OuterAxes all = outer_axes(outer);
    return define(symbols, fmt::format(R"(op rms_reduce({iterators}, d*: {width})
in  X f32[{map}, d]
out reciprocal f32[{map}] = rsqrt(sum(X * X) / {width} + {epsilon})
)",
                                       fmt::arg("iterators", all.iterators), fmt::arg("map", all.map),
                                       fmt::arg("width", width), fmt::arg("epsilon", epsilon)));
}

DefinitionPtr rms_apply(Symbols symbols, const std::vector<Dim>& outer, int64_t width,
                        std::optional<ElementType> weight, ElementType result, double offset,
                        bool is_of_heads) {
    const OuterAxes all = outer_axes(outer);
    const std::string scale = offset == 0 ? " * W" : fmt::format(" * (W + {})", offset);
    return define(
        symbols,
        fmt::format(
            R"(op rms_apply({iterators}, d: {width})
in  X f32[{map}, d]
in  reciprocal f32[{map}]
{weight}out Y {result}[{map}, d] = X * reciprocal{scale}
)",
            fmt::arg("iterators", all.iterators), fmt::arg("map", all.map), fmt::arg("width", width),
            fmt::arg("weight", weight ? fmt::format("in  W {}[{}]\n", name(*weight), scale_map(is_of_heads))
                                      : std::string()),
            fmt::arg("result", name(result)), fmt::arg("scale", weight ? scale : std::string())));
}

void decompose_rms_norm(BlockBuilder& block, const Node& node) {
    const Graph& graph = block.graph();
    const size_t rank = node.operands.empty() ? 0 : graph[node.operands[0]].type.shape.size();
    if (rank != 2 && rank != 3)
        throw Error(std::string(kRmsNorm), node.name,
                    fmt::format("operand X has {} axes, expected 2 or 3", rank));
    const bool has_scale = node.operands.size() > 1;
    const bool is_of_heads = has_scale && rank == 3 && graph[node.operands[1]].type.shape.size() == 2;
    std::optional<ElementType> weight;
    if (has_scale) weight = operand_type(graph, node, 1, is_of_heads ? 2 : 1).element;
    std::vector<Dim> outer = graph[node.operands[0]].type.shape;
    const Dim width = outer.back();
    outer.pop_back();
    if (!width.is_constant())
        throw Error(std::string(kRmsNorm), node.name, "the normalised axis must have a constant extent");
    const ValueId x = node.operands[0];
    const ValueId reciprocal =
        block.add(node.name + "_reciprocal",
                  rms_reduce(graph.symbols, outer, width.factor, real_attribute(node, "epsilon")), {x});
    const bool has_offset = std::get<Composite>(node.op).attributes.contains(kNormOffset);
    std::vector<ValueId> operands = {x, reciprocal};
    if (has_scale) operands.push_back(node.operands[1]);
    block.add_into(node.name + "_apply",
                   rms_apply(graph.symbols, outer, width.factor, weight, graph[node.results[0]].type.element,
                             has_offset ? real_attribute(node, kNormOffset) : 0, is_of_heads),
                   std::move(operands), node.results[0]);
}

}  // namespace tessera::ops
