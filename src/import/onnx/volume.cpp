#include "import/onnx/volume.h"

#include "ir/checked_arithmetic.h"

namespace tessera::import::onnx {

Volume& Volume::operator*=(const Dim& dim) {
    factor = checked_mul(factor, dim.factor, "");
    if (dim.symbol) symbols.insert(*dim.symbol);
    return *this;
}

std::optional<LinearForm> Volume::form() const {
    if (factor == 0 || symbols.empty()) return LinearForm{.constant = factor, .terms = {}};
    if (symbols.size() > 1) return std::nullopt;
    return linear_form(Dim(*symbols.begin(), factor));
}

Volume volume_of(std::span<const Dim> shape) {
    Volume volume;
    for (const Dim& dim : shape) volume *= dim;
    return volume;
}

std::optional<Volume> quotient(const Volume& a, const Volume& b) {
    if (b.factor == 0 || a.factor % b.factor != 0) return std::nullopt;
    Volume result{.factor = a.factor / b.factor, .symbols = a.symbols};
    for (const std::string& symbol : b.symbols) {
        const auto found = result.symbols.find(symbol);
        if (found == result.symbols.end()) return std::nullopt;
        result.symbols.erase(found);
    }
    return result;
}

}  // namespace tessera::import::onnx
