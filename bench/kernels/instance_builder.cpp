#include "instance_builder.h"

#include <fmt/format.h>

#include "ir/ops/block_builder.h"

namespace tessera {

InstanceBuilder::InstanceBuilder(Instance& instance, int64_t repeat) : instance_(instance), repeat_(repeat) {
    graph().name = "kernel";
    graph().blocks.push_back({.name = "kernel", .repeat = repeat});
}

ValueId InstanceBuilder::input(const std::string& name, const std::vector<int64_t>& shape, ElementType type) {
    return add(name, ValueKind::kInput, shape, type, {});
}

ValueId InstanceBuilder::indices(const std::string& name, const std::vector<int64_t>& shape,
                                 std::vector<double> contents) {
    instance_.contents[name] = std::move(contents);
    return input(name, shape, ElementType::kI32);
}

ValueId InstanceBuilder::constant(const std::string& name, const std::vector<int64_t>& shape,
                                  ElementType type) {
    std::vector<std::string> sources;
    for (int64_t i = 0; i < repeat_; ++i) sources.push_back(fmt::format("{}.{}", name, i));
    return add(name, ValueKind::kConstant, shape, type, std::move(sources));
}

ValueId InstanceBuilder::state(const std::string& name, const std::vector<int64_t>& shape, ElementType type) {
    return add(name, ValueKind::kState, shape, type, {});
}

ValueId InstanceBuilder::node(const std::string& name, const DefinitionPtr& definition,
                              std::vector<ValueId> operands) {
    return ops::BlockBuilder(graph(), block(), Rounding::kWeights).add(name, definition, std::move(operands));
}

ValueId InstanceBuilder::add(const std::string& name, ValueKind kind, const std::vector<int64_t>& shape,
                             ElementType type, std::vector<std::string> sources) {
    TensorType tensor{.element = type, .shape = {}, .layout = {}};
    for (const int64_t extent : shape) tensor.shape.emplace_back(extent);
    graph().values.push_back({name, kind, std::move(tensor), std::move(sources)});
    return {static_cast<int>(graph().values.size()) - 1};
}

}  // namespace tessera
