#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/weights.h"
#include "ops/weight_format.h"

namespace tessera {

/// The format of a tensor, by the name of its type; empty where no format has it.
std::optional<ops::WeightFormat> format_of(const StoredTensor& tensor);
/// As above, where it is several operands.
std::optional<ops::WeightFormat> quantised_format_of(const StoredTensor& tensor);

/// The source of one operand of a quantised weight: "blk.0.attn_q.weight#q". Of a weight that is one operand:
/// the name of the weight.
std::string operand_source(const std::string& weight, const ops::WeightOperand& operand);

/// Name and description of each operand of a quantised tensor [.., K], in the format's order; their bytes are
/// to be made. @pre K is a multiple of the format's block.
std::vector<std::pair<std::string, StoredTensor>> operand_tensors(const std::string& weight,
                                                                  const std::vector<int64_t>& shape,
                                                                  ops::WeightFormat format);

}  // namespace tessera
