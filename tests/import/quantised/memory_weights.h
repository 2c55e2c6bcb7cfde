#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/weights.h"

namespace tessera::testing {

/// Tensors in memory.
class MemoryWeights : public import::WeightSource {
public:
    void add(const std::string& name, const std::string& type, const std::vector<int64_t>& shape,
             std::string bytes, std::optional<ElementType> element = {}) {
        const std::string& kept = bytes_[name] = std::move(bytes);
        tensors_[name] = {.type = type,
                          .element = element,
                          .shape = shape,
                          .bytes = std::as_bytes(std::span(kept.data(), kept.size()))};
    }
    const import::StoredTensor* find(std::string_view name) const override {
        const auto found = tensors_.find(name);
        return found == tensors_.end() ? nullptr : &found->second;
    }
    std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const auto& [name, tensor] : tensors_) all.push_back(name);
        return all;
    }

private:
    std::map<std::string, std::string> bytes_;
    std::map<std::string, import::StoredTensor, std::less<>> tensors_;
};

}  // namespace tessera::testing
