#include "import/gguf/gguf_weights.h"

#include <utility>

namespace tessera {
namespace {

std::optional<ElementType> element_of(GgmlType type) {
    switch (type) {
        case GgmlType::kF32:
            return ElementType::kF32;
        case GgmlType::kF16:
            return ElementType::kF16;
        case GgmlType::kBF16:
            return ElementType::kBF16;
        case GgmlType::kI8:
            return ElementType::kI8;
        case GgmlType::kI32:
            return ElementType::kI32;
        default:
            return std::nullopt;
    }
}

}  // namespace

GgufWeights::GgufWeights(std::shared_ptr<const GgufFile> file) : file_(std::move(file)) {
    for (const GgufTensor& tensor : file_->tensors())
        tensors_.emplace(std::string(tensor.name),
                         StoredTensor{.type = std::string(info(tensor.type).name),
                                      .element = element_of(tensor.type),
                                      .shape = {tensor.dimensions.rbegin(), tensor.dimensions.rend()},
                                      .bytes = file_->bytes(tensor)});
}

const StoredTensor* GgufWeights::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
}

std::vector<std::string> GgufWeights::names() const {
    std::vector<std::string> all;
    for (const auto& [name, tensor] : tensors_) all.push_back(name);
    return all;
}

void GgufWeights::release(std::string_view name) const {
    if (const StoredTensor* tensor = find(name)) file_->release(tensor->bytes);
}

}  // namespace tessera
