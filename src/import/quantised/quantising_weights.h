#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/quantised/operand_tensors.h"
#include "ir/ops/weight_format.h"

namespace tessera::import {

/// The tensors of a float checkpoint, in which some also appear as the operands of a quantised format, such
/// as "model.layers.0.mlp.up_proj.weight#q". A tensor is quantised when the first of its operands is asked
/// for; its small operands, all but `q`, are kept until they are asked for too. Not to be used by two threads
/// at once.
class QuantisingWeights : public WeightSource {
public:
    /// `formats`: by the name of the tensor, each F32, F16 or BF16, with rows of whole blocks.
    QuantisingWeights(std::shared_ptr<const WeightSource> checkpoint,
                      const std::map<std::string, ops::WeightFormat>& formats);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    /// @throws Error naming a tensor that holds no number, or one beyond F16.
    TensorContents contents(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    std::vector<Bytes> quantised(const OperandTensor& operand) const;

    std::shared_ptr<const WeightSource> checkpoint_;
    OperandTensors operands_;
    mutable std::map<std::string, Bytes, std::less<>> kept_;
};

}  // namespace tessera::import
