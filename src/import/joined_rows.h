#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "import/weights.h"

namespace tessera::import {

/// Tensors of whole bytes whose rows lie one behind the other, as one tensor.
class JoinedRows final : public TensorRows {
public:
    struct Part {
        std::unique_ptr<TensorRows> tensor;
        int64_t rows;
    };
    explicit JoinedRows(std::vector<Part> parts) : parts_(std::move(parts)) {}

    TensorContents rows(int64_t first, int64_t last) const override;

private:
    std::vector<Part> parts_;
};

}  // namespace tessera::import
