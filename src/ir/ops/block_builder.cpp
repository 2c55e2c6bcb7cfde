#include "ir/ops/block_builder.h"

#include <utility>

#include "ir/result_type.h"
#include "support/error.h"

namespace tessera::ops {

ValueId BlockBuilder::value(Value value) {
    graph_.values.push_back(std::move(value));
    return {static_cast<int>(graph_.values.size()) - 1};
}

ValueId BlockBuilder::add(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands) {
    const std::vector<int> results = op->results();
    TESSERA_CHECK(results.size() == 1, "{} has {} results", name, results.size());
    TensorType type = type_of(*op, results[0], name);
    if (!is_integer(type.element) && bits(type.element) < 32) type.rounding = rounding_;
    const ValueId result = value({.name = name, .type = std::move(type)});
    add_into(name, op, std::move(operands), result);
    return result;
}

std::vector<ValueId> BlockBuilder::add_all(const std::string& name, const DefinitionPtr& op,
                                           std::vector<ValueId> operands) {
    Node node{.name = name, .op = op, .operands = std::move(operands)};
    for (const int tensor : op->results())
        node.results.push_back(value({.name = name + "_" + op->tensors[static_cast<size_t>(tensor)].name,
                                      .type = type_of(*op, tensor, name)}));
    block_.nodes.push_back(std::move(node));
    return block_.nodes.back().results;
}

void BlockBuilder::add_into(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands,
                            ValueId result) {
    block_.nodes.push_back({.name = name, .op = op, .operands = std::move(operands), .results = {result}});
}

ValueId BlockBuilder::update(const std::string& name, const DefinitionPtr& op, std::vector<ValueId> operands,
                             ValueId state) {
    const ValueId after = value({.name = name + "_new", .type = graph_[state].type});
    block_.nodes.push_back(
        {.name = name, .op = op, .operands = std::move(operands), .results = {after}, .previous = state});
    block_.states.push_back({state, after});
    return after;
}

std::vector<ValueId> BlockBuilder::carry(const std::string& name, const DefinitionPtr& op,
                                         std::vector<ValueId> operands, ValueId state,
                                         const std::vector<std::string>& names) {
    (void)update(name, op, std::move(operands), state);
    std::vector<ValueId> made;
    const std::vector<int> results = op->results();
    TESSERA_CHECK(results.size() == names.size() + 1, "{} names for {} results", names.size(),
                  results.size());
    for (size_t i = 0; i < names.size(); ++i)
        made.push_back(value({.name = names[i], .type = type_of(*op, results[i + 1], name)}));
    std::vector<ValueId>& all = block_.nodes.back().results;
    all.insert(all.end(), made.begin(), made.end());
    return made;
}

ValueId BlockBuilder::add(const std::string& name, Composite composite, std::vector<ValueId> operands,
                          TensorType type) {
    const ValueId result = value({.name = name, .type = std::move(type)});
    block_.nodes.push_back(
        {.name = name, .op = std::move(composite), .operands = std::move(operands), .results = {result}});
    return result;
}

}  // namespace tessera::ops
