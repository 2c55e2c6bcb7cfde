#include "import/expert_weights.h"

#include <algorithm>

#include <fmt/core.h>

#include "import/decoder_config.h"
#include "support/error.h"

namespace tessera::import {

ExpertWeights::ExpertWeights(std::shared_ptr<const WeightSource> checkpoint, const DecoderConfig& config)
    : checkpoint_(std::move(checkpoint)) {
    for (int64_t layer = 0; layer < config.size.layers; ++layer) {
        const std::string prefix = config.names.prefix(layer);
        for (const ExpertStack& stack : config.expert_stacks) add_stack(prefix, stack, config.size.experts);
        if (!config.is_gguf()) continue;
        for (const LayerTensor tensor :
             {LayerTensor::kExpertGate, LayerTensor::kExpertUp, LayerTensor::kExpertDown})
            add_flat(source_name(tensor, layer, config.names));
    }
}

void ExpertWeights::add_stack(const std::string& prefix, const ExpertStack& stack, int64_t experts) {
    Stack made;
    for (int64_t i = 0; i < experts; ++i) {
        std::string part = fmt::format("{}{}{}{}", prefix, stack.before, i, stack.after);
        const StoredTensor* tensor = checkpoint_->find(part);
        if (tensor == nullptr || tensor->shape.size() != 2) return;
        if (i == 0)
            made.tensor = {
                .type = tensor->type, .element = tensor->element, .shape = tensor->shape, .bytes = {}};
        if (tensor->type != made.tensor.type || tensor->shape != made.tensor.shape) return;
        made.parts.push_back(std::move(part));
    }
    made.tensor.shape[0] *= experts;
    hidden_.insert(made.parts.begin(), made.parts.end());
    stacks_.emplace(prefix + stack.name, std::move(made));
}

void ExpertWeights::add_flat(const std::string& name) {
    const StoredTensor* tensor = checkpoint_->find(name);
    if (tensor == nullptr || tensor->shape.size() != 3) return;
    Stack made{.tensor = *tensor, .parts = {}};
    made.tensor.shape = {tensor->shape[0] * tensor->shape[1], tensor->shape[2]};
    stacks_.emplace(name, std::move(made));
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
    for (const auto& [name, stack] : stacks_)
        if (!stack.parts.empty()) all.push_back(name);
    std::sort(all.begin(), all.end());
    return all;
}

TensorContents ExpertWeights::contents(std::string_view name) const {
    const auto found = stacks_.find(name);
    if (found == stacks_.end() || found->second.parts.empty()) return checkpoint_->contents(name);
    const auto all = std::make_shared<std::vector<std::byte>>();
    for (const std::string& part : found->second.parts) {
        const TensorContents contents = checkpoint_->contents(part);
        all->reserve(contents.bytes.size() * found->second.parts.size());
        all->insert(all->end(), contents.bytes.begin(), contents.bytes.end());
        checkpoint_->release(part);
    }
    return {.bytes = *all, .owner = all};
}

void ExpertWeights::release(std::string_view name) const {
    const auto found = stacks_.find(name);
    if (found == stacks_.end() || found->second.parts.empty()) return checkpoint_->release(name);
    for (const std::string& part : found->second.parts) checkpoint_->release(part);
}

}  // namespace tessera::import
