#include "import/gguf/gguf_weights.h"

namespace tessera::import {
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

GgufWeights::GgufWeights(const GgufParts& parts) {
    for (const auto& file : parts.all())
        for (const GgufTensor& tensor : file->tensors())
            tensors_.emplace(
                std::string(tensor.name),
                Placed{.tensor = {.type = std::string(info(tensor.type).name),
                                  .element = element_of(tensor.type),
                                  .shape = {tensor.dimensions.rbegin(), tensor.dimensions.rend()},
                                  .bytes = file->bytes(tensor)},
                       .file = file});
}

const StoredTensor* GgufWeights::find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second.tensor;
}

std::vector<std::string> GgufWeights::names() const {
    std::vector<std::string> all;
    for (const auto& [name, placed] : tensors_) all.push_back(name);
    return all;
}

void GgufWeights::release(std::string_view name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) found->second.file->release(found->second.tensor.bytes);
}

}  // namespace tessera::import
