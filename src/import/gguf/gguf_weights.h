#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "import/gguf/gguf_file.h"
#include "import/weights.h"

namespace tessera {

/// The tensors of a GGUF file, with the outermost axis first.
class GgufWeights : public WeightSource {
public:
    explicit GgufWeights(std::shared_ptr<const GgufFile> file);

    const StoredTensor* find(std::string_view name) const override;
    std::vector<std::string> names() const override;
    void release(std::string_view name) const override;

private:
    std::shared_ptr<const GgufFile> file_;
    std::map<std::string, StoredTensor, std::less<>> tensors_;
};

}  // namespace tessera
