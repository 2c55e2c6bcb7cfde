#include "import/weights.h"

#include "support/error.h"

namespace tessera::import {

TensorContents WeightSource::contents(std::string_view name) const {
    const StoredTensor* tensor = find(name);
    TESSERA_CHECK(tensor != nullptr, "{}", name);
    return {.bytes = tensor->bytes, .owner = nullptr};
}

}  // namespace tessera::import
