#include "ir/ops/rms_norm.h"

#include <fmt/core.h>

#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr const char* kOffset = "offset";

constexpr std::string_view kOuterIterators[] = {"t", "h"};

struct OuterText {
    std::string iterators;  ///< "t: T, h: 4"
    std::string map;        ///< "t, h"
};

OuterText outer_text(const std::vector<Dim>& outer) {
    TESSERA_CHECK(!outer.empty() && outer.size() <= std::size(kOuterIterators), "{} axes", outer.size());
    OuterText all;
    for (size_t i = 0; i < outer.size(); ++i) {
        const std::string_view separator = i == 0 ? "" : ", ";
        all.iterators += fmt::format("{}{}: {}", separator, kOuterIterators[i], text(outer[i]));
        all.map += fmt::format("{}{}", separator, kOuterIterators[i]);
    }
    return all;
}

}  // namespace

Composite rms_norm(double epsilon, double offset) {
    Composite composite{.kind = std::string(kRmsNorm), .attributes = {{"epsilon", epsilon}}};
    if (offset != 0) composite.attributes[kOffset] = offset;
    return composite;
}

DefinitionPtr rms_reduce(Symbols symbols, const std::vector<Dim>& outer, int64_t width, double epsilon) {
    const OuterText all = outer_text(outer);
    return define(symbols, fmt::format(R"(op rms_reduce({iterators}, d*: {width})
in  X f32[{map}, d]
out reciprocal f32[{map}] = rsqrt(sum(X * X) / {width} + {epsilon})
)",
                                       fmt::arg("iterators", all.iterators), fmt::arg("map", all.map),
                                       fmt::arg("width", width), fmt::arg("epsilon", epsilon)));
}

DefinitionPtr rms_apply(Symbols symbols, const std::vector<Dim>& outer, int64_t width, ElementType weight,
                        ElementType result, double offset) {
    const OuterText all = outer_text(outer);
    return define(
        symbols,
        fmt::format(R"(op rms_apply({iterators}, d: {width})
in  X f32[{map}, d]
in  reciprocal f32[{map}]
in  W {weight}[d]
out Y {result}[{map}, d] = X * reciprocal * {scale}
)",
                    fmt::arg("iterators", all.iterators), fmt::arg("map", all.map), fmt::arg("width", width),
                    fmt::arg("weight", name(weight)), fmt::arg("result", name(result)),
                    fmt::arg("scale", offset == 0 ? "W" : fmt::format("(W + {})", offset))));
}

void decompose_rms_norm(BlockBuilder& block, const Node& node) {
    const Graph& graph = block.graph();
    const TensorType weight = operand_type(graph, node, 1, 1);
    const size_t rank = node.operands.empty() ? 0 : graph[node.operands[0]].type.shape.size();
    if (rank != 2 && rank != 3)
        throw Error(std::string(kRmsNorm), node.name,
                    fmt::format("operand X has {} axes, expected 2 or 3", rank));
    std::vector<Dim> outer = graph[node.operands[0]].type.shape;
    const Dim width = outer.back();
    outer.pop_back();
    if (!width.is_constant())
        throw Error(std::string(kRmsNorm), node.name, "the normalised axis must have a constant extent");
    const ValueId x = node.operands[0];
    const ValueId reciprocal =
        block.add(node.name + "_reciprocal",
                  rms_reduce(graph.symbols, outer, width.factor, real_attribute(node, "epsilon")), {x});
    const bool has_offset = std::get<Composite>(node.op).attributes.contains(kOffset);
    block.add_into(
        node.name + "_apply",
        rms_apply(graph.symbols, outer, width.factor, weight.element, graph[node.results[0]].type.element,
                  has_offset ? real_attribute(node, kOffset) : 0),
        {x, reciprocal, node.operands[1]}, node.results[0]);
}

}  // namespace tessera::ops
