#include "import/quantised/operand_tensors.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::import {

std::optional<ops::WeightFormat> format_of(const StoredTensor& tensor) {
    return ops::weight_format_of(tensor.type);
}

std::optional<ops::WeightFormat> quantised_format_of(const StoredTensor& tensor) {
    const auto format = format_of(tensor);
    return format && !ops::element_of(*format) ? format : std::nullopt;
}

std::string operand_source(const std::string& weight, const ops::WeightOperand& operand) {
    return operand.name.empty() ? weight : fmt::format("{}#{}", weight, operand.name);
}

void add_operands(OperandTensors& all, const std::string& weight, const std::vector<int64_t>& shape,
                  ops::WeightFormat format) {
    const ops::WeightFormatInfo& facts = ops::info(format);
    TESSERA_CHECK(!shape.empty() && shape.back() % facts.block == 0, "{} of {}", weight, facts.name);
    for (size_t i = 0; i < facts.operands.size(); ++i) {
        const ops::WeightOperand& operand = facts.operands[i];
        StoredTensor tensor{
            .type = std::string(name(operand.type)), .element = operand.type, .shape = shape, .bytes = {}};
        tensor.shape.back() /= operand.block;
        all.emplace(operand_source(weight, operand), OperandTensor{std::move(tensor), weight, format, i});
    }
}

std::vector<std::string> joined_names(std::vector<std::string> names, const OperandTensors& operands) {
    for (const auto& [name, operand] : operands) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace tessera::import
