#include "import/quantised/operand_tensors.h"

#include "support/error.h"

namespace tessera {

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

std::vector<std::pair<std::string, StoredTensor>> operand_tensors(const std::string& weight,
                                                                  const std::vector<int64_t>& shape,
                                                                  ops::WeightFormat format) {
    const ops::WeightFormatInfo& facts = ops::info(format);
    TESSERA_CHECK(!shape.empty() && shape.back() % facts.block == 0, "{} of {}", weight, facts.name);
    std::vector<std::pair<std::string, StoredTensor>> all;
    for (const ops::WeightOperand& operand : facts.operands) {
        StoredTensor tensor{.type = std::string(name(operand.type)),
                            .element = operand.type,
                            .shape = shape,
                            .bytes = {}};
        tensor.shape.back() /= operand.block;
        all.emplace_back(operand_source(weight, operand), std::move(tensor));
    }
    return all;
}

}  // namespace tessera
