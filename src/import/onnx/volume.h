#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "import/onnx/linear_form.h"

namespace tessera::import::onnx {

/// How many elements there are: a product of a number and symbols.
struct Volume {
    int64_t factor = 1;
    std::multiset<std::string> symbols;

    /// @throws Error beyond 64 bits
    Volume& operator*=(const Dim& dim);
    /// Nothing if several symbols are multiplied.
    std::optional<LinearForm> form() const;
    bool operator==(const Volume&) const = default;
};

Volume volume_of(std::span<const Dim> shape);
/// a / b; nothing where it is no volume.
std::optional<Volume> quotient(const Volume& a, const Volume& b);

}  // namespace tessera::import::onnx
