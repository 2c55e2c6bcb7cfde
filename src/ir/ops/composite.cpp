#include "ir/ops/composite.h"

#include "ir/ops/attention.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/rms_norm.h"
#include "support/error.h"

namespace tessera::ops {
namespace {

constexpr CompositeKind kKinds[] = {
    {kAttention, decompose_attention, kAttentionExample},
    {kLayerNorm, decompose_layer_norm, kLayerNormExample},
    {kRmsNorm, decompose_rms_norm, kRmsNormExample},
};

template <typename T>
const T& attribute_as(const Node& node, const std::string& attribute, std::string_view type) {
    const Composite& composite = std::get<Composite>(node.op);
    const auto found = composite.attributes.find(attribute);
    if (found == composite.attributes.end())
        throw Error(composite.kind, node.name, fmt::format("needs the attribute {}", attribute));
    if (const T* value = std::get_if<T>(&found->second)) return *value;
    throw Error(composite.kind, node.name, fmt::format("attribute {} must be {}", attribute, type));
}

}  // namespace

std::span<const CompositeKind> composite_kinds() {
    return kKinds;
}

int64_t integer_attribute(const Node& node, const std::string& attribute) {
    return attribute_as<int64_t>(node, attribute, "an integer");
}

double real_attribute(const Node& node, const std::string& attribute) {
    return attribute_as<double>(node, attribute, "a number with a fraction");
}

const std::string& text_attribute(const Node& node, const std::string& attribute) {
    return attribute_as<std::string>(node, attribute, "text");
}

const TensorType& operand_type(const Graph& graph, const Node& node, size_t operand, size_t rank) {
    const std::string& kind = std::get<Composite>(node.op).kind;
    if (operand >= node.operands.size())
        throw Error(kind, node.name,
                    fmt::format("has {} operands, needs {} or more", node.operands.size(), operand + 1));
    const Value& value = graph[node.operands[operand]];
    if (value.type.shape.size() != rank)
        throw Error(
            kind, node.name,
            fmt::format("operand {} has {} axes, expected {}", value.name, value.type.shape.size(), rank));
    return value.type;
}

}  // namespace tessera::ops
