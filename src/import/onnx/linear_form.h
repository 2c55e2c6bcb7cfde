#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "ir/definition.h"
#include "ir/quasi_affine.h"
#include "ir/tensor_type.h"

/// Integers that are known up to the symbols of a graph, such as the numbers in a shape.
namespace tessera::import::onnx {

/// constant + sum of coefficient * symbol.
struct LinearForm {
    int64_t constant = 0;
    std::map<std::string, int64_t> terms;  ///< by symbol; no coefficient is 0

    bool is_constant() const { return terms.empty(); }
    bool operator==(const LinearForm&) const = default;
};

LinearForm linear_form(const Dim& dim);
/// The form as an extent: a number of 0 or more, or a positive multiple of one symbol.
std::optional<Dim> dim_of(const LinearForm& form);
/// "2 * T + 1".
std::string print(const LinearForm& form);
/// "2 * $T + 1", as ops::define reads it.
std::string form_text(const LinearForm& form);

/// a + factor * b. @throws Error beyond 64 bits
LinearForm sum(const LinearForm& a, const LinearForm& b, int64_t factor = 1);
/// Nothing if no factor is a number.
std::optional<LinearForm> product(const LinearForm& a, const LinearForm& b);
/// Its least and largest value within the bounds of the symbols. @throws Error beyond 64 bits
IntegerInterval range(const LinearForm& form, std::span<const DimSymbol> symbols);

}  // namespace tessera::import::onnx
