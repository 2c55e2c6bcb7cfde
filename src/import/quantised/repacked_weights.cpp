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

/// The elements of one operand, block after block.
std::vector<std::byte> take_operand(std::span<const std::byte> blocks, ops::WeightFormat format,
                                    size_t index) {
    const ops::WeightFormatInfo& facts = ops::info(format);
    const ops::WeightOperand& operand = facts.operands[index];
    const ReadOperand read = block_readers(format)[index];
    const size_t from_bytes = block_bytes(format);
    const auto elements = static_cast<size_t>(facts.block / operand.block);
    const int width = bits(operand.type);
    // An element of two bytes is read as two.
    const size_t values = width > 8 ? elements * static_cast<size_t>(width) / 8 : elements;
    const int value_bits = std::min(width, 8);
    TESSERA_CHECK(values <= kLargestBlock && values * static_cast<size_t>(value_bits) % 8 == 0,
                  "{} values of {} bits", values, value_bits);
    const size_t to_bytes = stream_bytes(values, value_bits);
    const size_t count = blocks.size() / from_bytes;
    std::vector<std::byte> all(count * to_bytes);
    std::array<uint8_t, kLargestBlock> taken{};
    for (size_t block = 0; block < count; ++block) {
        read(reinterpret_cast<const uint8_t*>(blocks.data()) + block * from_bytes, taken.data());
        write_element_bits(std::span(taken).first(values), value_bits,
                           std::span(all).subspan(block * to_bytes, to_bytes));
    }
    return all;
}

}  // namespace

RepackedWeights::RepackedWeights(std::shared_ptr<const WeightSource> checkpoint)
    : checkpoint_(std::move(checkpoint)) {
    for (const std::string& name : checkpoint_->names()) {
        const StoredTensor& tensor = *checkpoint_->find(name);
        const auto format = quantised_format_of(tensor);
        if (!format || tensor.shape.empty() || tensor.shape.back() % ops::info(*format).block != 0) continue;
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
    const OperandTensor& operand = found->second;
    const TensorContents blocks = checkpoint_->contents(operand.weight);
    int64_t elements = 1;
    for (const int64_t extent : checkpoint_->find(operand.weight)->shape) elements *= extent;
    const auto expected =
        static_cast<size_t>(elements / ops::info(operand.format).block) * block_bytes(operand.format);
    if (blocks.bytes.size() != expected)
        throw Error("weights", operand.weight,
                    fmt::format("has {} bytes, expected {}", blocks.bytes.size(), expected));
    const auto taken = std::make_shared<const std::vector<std::byte>>(
        take_operand(blocks.bytes, operand.format, operand.index));
    checkpoint_->release(operand.weight);
    return {.bytes = *taken, .owner = taken};
}

void RepackedWeights::release(std::string_view name) const {
    const auto found = operands_.find(name);
    checkpoint_->release(found == operands_.end() ? name : std::string_view(found->second.weight));
}

}  // namespace tessera::import
