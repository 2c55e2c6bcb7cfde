#include "import/quantised/repacked_weights.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "import/quantised/ggml_blocks.h"
#include "ir/element_bits.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr size_t kLargestBlock = 256;

/// One operand of a weight, whose rows are whole blocks.
class OperandRows final : public TensorRows {
public:
    OperandRows(std::unique_ptr<TensorRows> blocks, const OperandTensor& operand, int64_t blocks_in_row)
        : blocks_(std::move(blocks)),
          weight_(operand.weight),
          blocks_in_row_(static_cast<size_t>(blocks_in_row)),
          read_(block_readers(operand.format)[operand.index]),
          block_bytes_(block_bytes(operand.format)) {
        const ops::WeightFormatInfo& facts = ops::info(operand.format);
        const ops::WeightOperand& form = facts.operands[operand.index];
        const auto elements = static_cast<size_t>(facts.block / form.block);
        const int width = bits(form.type);
        // An element of two bytes is read as two.
        values_ = width > 8 ? elements * static_cast<size_t>(width) / 8 : elements;
        value_bits_ = std::min(width, 8);
        TESSERA_CHECK(values_ <= kLargestBlock && values_ * static_cast<size_t>(value_bits_) % 8 == 0,
                      "{} values of {} bits", values_, value_bits_);
    }

    TensorContents rows(int64_t first, int64_t last) const override {
        const TensorContents blocks = blocks_->rows(first, last);
        const size_t count = static_cast<size_t>(last - first) * blocks_in_row_;
        if (blocks.bytes.size() != count * block_bytes_)
            throw Error("weights", weight_,
                        fmt::format("has {} bytes in {} rows, expected {}", blocks.bytes.size(), last - first,
                                    count * block_bytes_));
        const size_t to_bytes = stream_bytes(values_, value_bits_);
        const auto all = std::make_shared<std::vector<std::byte>>(count * to_bytes);
        std::array<uint8_t, kLargestBlock> taken{};
        const auto* from = reinterpret_cast<const uint8_t*>(blocks.bytes.data());
        for (size_t block = 0; block < count; ++block) {
            read_(from + block * block_bytes_, taken.data());
            write_element_bits(std::span(taken).first(values_), value_bits_,
                               std::span(*all).subspan(block * to_bytes, to_bytes));
        }
        return {.bytes = *all, .owner = all};
    }

private:
    std::unique_ptr<TensorRows> blocks_;
    std::string weight_;
    size_t blocks_in_row_;
    ReadOperand read_;
    size_t block_bytes_;
    size_t values_ = 0;
    int value_bits_ = 8;
};

}  // namespace

RepackedWeights::RepackedWeights(std::shared_ptr<const WeightSource> checkpoint)
    : checkpoint_(std::move(checkpoint)) {
    for (const std::string& name : checkpoint_->names()) {
        const StoredTensor& tensor = *checkpoint_->find(name);
        const auto format = quantised_format_of(tensor);
        if (!format || tensor.shape.size() < 2 || tensor.shape.back() % ops::info(*format).block != 0)
            continue;
        add_operands(operands_, name, tensor.shape, *format);
    }
}

const StoredTensor* RepackedWeights::find(std::string_view name) const {
    const auto found = operands_.find(name);
    return found == operands_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> RepackedWeights::names() const {
    return joined_names(checkpoint_->names(), operands_);
}

TensorContents RepackedWeights::contents(std::string_view name) const {
    const auto found = operands_.find(name);
    if (found == operands_.end()) return checkpoint_->contents(name);
    TensorContents all = open_rows(name)->rows(0, found->second.tensor.shape.front());
    checkpoint_->release(found->second.weight);
    return all;
}

std::unique_ptr<TensorRows> RepackedWeights::open_rows(std::string_view name) const {
    const auto found = operands_.find(name);
    if (found == operands_.end()) return checkpoint_->open_rows(name);
    const OperandTensor& operand = found->second;
    const std::vector<int64_t>& shape = checkpoint_->find(operand.weight)->shape;
    int64_t row = shape.back() / ops::info(operand.format).block;
    for (size_t axis = 1; axis + 1 < shape.size(); ++axis) row *= shape[axis];
    return std::make_unique<OperandRows>(checkpoint_->open_rows(operand.weight), operand, row);
}

void RepackedWeights::release(std::string_view name) const {
    const auto found = operands_.find(name);
    checkpoint_->release(found == operands_.end() ? name : std::string_view(found->second.weight));
}

}  // namespace tessera::import
