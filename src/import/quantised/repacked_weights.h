#pragma once

#include <memory>
#include <string>
#include <vector>

#include "import/quantised/operand_tensors.h"

namespace tessera::import {

/// The tensors of a checkpoint, in which each quantised one also appears as the operands of its format, such
/// as "blk.0.attn_q.weight#q". Their contents are taken out of the blocks when they are asked for, and never
/// rounded.
class RepackedWeights : public WeightSource {
public:
    /// Vectors, and tensors whose innermost extent is no multiple of the block, stay as they are.
    explicit RepackedWeights(std::shared_ptr<const WeightSource> checkpoint);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    TensorContents contents(std::string_view name) const override;
    std::unique_ptr<TensorRows> open_rows(std::string_view name) const override;
    void release(std::string_view name) const override;

private:
    std::shared_ptr<const WeightSource> checkpoint_;
    OperandTensors operands_;
};

}  // namespace tessera::import
