#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "import/gguf/gguf_parts.h"
#include "import/weights.h"

namespace tessera::import {

/// The tensors of a model in GGUF files, with the outermost axis first.
class GgufWeights : public WeightSource {
public:
    explicit GgufWeights(const GgufParts& parts);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void release(std::string_view name) const override;

private:
    struct Placed {
        StoredTensor tensor;
        std::shared_ptr<const GgufFile> file;
    };
    std::map<std::string, Placed, std::less<>> tensors_;
};

}  // namespace tessera::import
