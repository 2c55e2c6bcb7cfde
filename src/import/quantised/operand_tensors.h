#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/weights.h"
#include "ir/ops/weight_format.h"

namespace tessera::import {

/// The format of a tensor, by the name of its type; empty where no format has it.
std::optional<ops::WeightFormat> format_of(const StoredTensor& tensor);
/// As above, where it is several operands.
std::optional<ops::WeightFormat> quantised_format_of(const StoredTensor& tensor);

/// The source of one operand of a quantised weight: "blk.0.attn_q.weight#q". If the weight is one operand:
/// the name of the weight.
std::string operand_source(const std::string& weight, const ops::WeightOperand& operand);

/// One operand of a weight, whose bytes are to be made.
struct OperandTensor {
    StoredTensor tensor;
    std::string weight;
    ops::WeightFormat format;
    size_t index;  ///< among the operands of the format
};
/// By the name of the source.
using OperandTensors = std::map<std::string, OperandTensor, std::less<>>;

/// Adds the operands of a weight [.., K] in a quantised format. @pre K is a multiple of the format's block.
void add_operands(OperandTensors& all, const std::string& weight, const std::vector<int64_t>& shape,
                  ops::WeightFormat format);
/// Names of both, sorted.
std::vector<std::string> joined_names(std::vector<std::string> names, const OperandTensors& operands);

}  // namespace tessera::import
