#include "import/expert_weights.h"

#include <algorithm>

#include <fmt/core.h>

#include "import/joined_rows.h"
#include "ir/stored_number.h"
#include "support/checked.h"
#include "support/error.h"

namespace tessera::import {

namespace {

bool is_float(const StoredTensor& tensor) {
    return tensor.element == ElementType::kF32 || tensor.element == ElementType::kF16 ||
           tensor.element == ElementType::kBF16;
}

/// Appends a float tensor's numbers as F32, which holds those of the other types.
void append_widened(std::vector<std::byte>& to, const StoredTensor& tensor,
                    std::span<const std::byte> bytes) {
    const size_t count = bytes.size() * 8 / static_cast<size_t>(bits(*tensor.element));
    for (size_t i = 0; i < count; ++i) {
        const auto number = static_cast<float>(stored_number(bytes, *tensor.element, i));
        const auto raw = std::as_bytes(std::span(&number, 1));
        to.insert(to.end(), raw.begin(), raw.end());
    }
}

}  // namespace

ExpertWeights::ExpertWeights(std::shared_ptr<const WeightSource> checkpoint,
                             std::span<const ExpertStack> stacks)
    : checkpoint_(std::move(checkpoint)) {
    for (const ExpertStack& stack : stacks) add_stack(stack);
}

void ExpertWeights::add_stack(const ExpertStack& stack) {
    const StoredTensor* first = checkpoint_->find(stack.parts.front());
    if (first == nullptr) return;
    Stack made{.tensor = {.type = first->type, .element = first->element, .shape = first->shape, .bytes = {}},
               .parts = {}};
    std::string fault;
    int64_t rows = 0;
    const auto columns = [](const StoredTensor& tensor) {
        return std::vector<int64_t>(tensor.shape.begin() + (tensor.shape.empty() ? 0 : 1),
                                    tensor.shape.end());
    };
    for (const std::string& part : stack.parts) {
        const StoredTensor* tensor = checkpoint_->find(part);
        if (tensor == nullptr) {
            fault = fmt::format(" without {}", part);
            break;
        }
        if (tensor->type != first->type && is_float(*tensor) && is_float(*first)) made.is_widened = true;
        const bool is_alike =
            stack.are_rows ? columns(*tensor) == columns(*first) : tensor->shape == first->shape;
        if (!is_alike || (tensor->type != first->type && !made.is_widened))
            fault = fmt::format(" with {} of another shape or type", part);
        rows += tensor->shape.empty() ? 0 : tensor->shape.front();
        made.parts.push_back(part);
    }
    if (made.is_widened) made.tensor.type = "F32", made.tensor.element = ElementType::kF32;
    if (!fault.empty()) made.tensor.type += fault, made.tensor.element.reset();
    if (stack.are_rows)
        made.tensor.shape = {rows, checked_product<int64_t>(columns(*first)).value_or(0)};
    else if (made.tensor.shape.size() == 2)
        made.tensor.shape[0] *= std::ssize(stack.parts);
    else if (made.tensor.shape.size() == 1)
        made.tensor.shape.insert(made.tensor.shape.begin(), std::ssize(stack.parts));
    hidden_.insert(made.parts.begin(), made.parts.end());
    stacks_.emplace(stack.name, std::move(made));
}

const StoredTensor* ExpertWeights::find(std::string_view name) const {
    if (hidden_.contains(name)) return nullptr;
    const auto found = stacks_.find(name);
    return found == stacks_.end() ? checkpoint_->find(name) : &found->second.tensor;
}

std::vector<std::string> ExpertWeights::names() const {
    std::vector<std::string> all;
    for (const std::string& name : checkpoint_->names())
        if (!hidden_.contains(name)) all.push_back(name);
    for (const auto& [name, stack] : stacks_) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

TensorContents ExpertWeights::contents(std::string_view name) const {
    const auto found = stacks_.find(name);
    if (found == stacks_.end()) return checkpoint_->contents(name);
    const Stack& stack = found->second;
    const auto all = std::make_shared<std::vector<std::byte>>();
    for (const std::string& part : stack.parts) {
        const TensorContents contents = checkpoint_->contents(part);
        all->reserve(contents.bytes.size() * stack.parts.size());
        if (stack.is_widened)
            append_widened(*all, *checkpoint_->find(part), contents.bytes);
        else
            all->insert(all->end(), contents.bytes.begin(), contents.bytes.end());
        checkpoint_->release(part);
    }
    return {.bytes = *all, .owner = all};
}

std::unique_ptr<TensorRows> ExpertWeights::open_rows(std::string_view name) const {
    const auto found = stacks_.find(name);
    if (found == stacks_.end()) return checkpoint_->open_rows(name);
    if (found->second.is_widened) return WeightSource::open_rows(name);
    std::vector<JoinedRows::Part> parts;
    for (const std::string& part : found->second.parts)
        parts.push_back({checkpoint_->open_rows(part), checkpoint_->find(part)->shape.front()});
    return std::make_unique<JoinedRows>(std::move(parts));
}

void ExpertWeights::release(std::string_view name) const {
    const auto found = stacks_.find(name);
    if (found == stacks_.end()) return checkpoint_->release(name);
    for (const std::string& part : found->second.parts) checkpoint_->release(part);
}

}  // namespace tessera::import
