#include "import/quantised/quantising_weights.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "import/quantise/quantise_rows.h"
#include "ir/stored_number.h"
#include "support/error.h"

namespace tessera::import {
namespace {

constexpr float kLargestHalf = 65504;

}  // namespace

QuantisingWeights::QuantisingWeights(std::shared_ptr<const WeightSource> checkpoint,
                                     const std::map<std::string, ops::WeightFormat>& formats)
    : checkpoint_(std::move(checkpoint)) {
    for (const auto& [name, format] : formats) {
        const StoredTensor* tensor = checkpoint_->find(name);
        TESSERA_CHECK(tensor != nullptr, "{}", name);
        add_operands(operands_, name, tensor->shape, format);
    }
}

const StoredTensor* QuantisingWeights::find(std::string_view name) const {
    const auto found = operands_.find(name);
    return found == operands_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> QuantisingWeights::names() const {
    return joined_names(checkpoint_->names(), operands_);
}

std::vector<QuantisingWeights::Bytes> QuantisingWeights::quantised(const OperandTensor& operand) const {
    const StoredTensor& tensor = *checkpoint_->find(operand.weight);
    const auto format = format_of(tensor);
    TESSERA_CHECK(format && ops::element_of(*format), "{} of {}", tensor.type, operand.weight);
    const ElementType type = *ops::element_of(*format);
    const TensorContents contents = checkpoint_->contents(operand.weight);
    const auto read = [&](size_t first, std::span<float> to) {
        for (size_t i = 0; i < to.size(); ++i) {
            to[i] = static_cast<float>(stored_number(contents.bytes, type, first + i));
            if (!(std::fabs(to[i]) <= kLargestHalf))
                throw Error("quantize", operand.weight,
                            fmt::format("holds {} at element {}", to[i], first + i),
                            "scales of quantised formats are F16");
        }
    };
    const size_t elements = contents.bytes.size() * 8 / static_cast<size_t>(bits(type));
    const auto workers = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
    std::vector<Bytes> all;
    for (auto& bytes : quantise::quantise_rows(operand.format, elements, read, workers))
        all.push_back(std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
    checkpoint_->release(operand.weight);
    return all;
}

TensorContents QuantisingWeights::contents(std::string_view name) const {
    const auto found = operands_.find(name);
    if (found == operands_.end()) return checkpoint_->contents(name);
    const auto kept = kept_.extract(found->first);
    if (!kept.empty()) return {.bytes = *kept.mapped(), .owner = kept.mapped()};
    const OperandTensor& operand = found->second;
    const std::vector<Bytes> all = quantised(operand);
    for (size_t i = 1; i < all.size(); ++i)
        if (i != operand.index)
            kept_[operand_source(operand.weight, ops::info(operand.format).operands[i])] = all[i];
    return {.bytes = *all[operand.index], .owner = all[operand.index]};
}

void QuantisingWeights::release(std::string_view name) const {
    if (!operands_.contains(name)) checkpoint_->release(name);
}

}  // namespace tessera::import
