#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/linear_form.h"
#include "ir/definition.h"

namespace tessera::import::onnx {

/// The elements of small tensors of integers, known up to the symbols. Along an axis with a symbolic extent
/// there is one form for all elements, in which axis_symbol(axis) is the place along it.
using Forms = std::vector<LinearForm>;
std::string axis_symbol(size_t axis);
/// The axis that such a symbol stands for; nothing for a symbol of the graph.
std::optional<size_t> axis_of(std::string_view symbol);
/// More are not followed.
inline constexpr int64_t kMostForms = 64;

/// The result of an operator on integers, whose operands are such forms: carried out as the interpreter does,
/// with comparisons, `div` and `mod` decided where the bounds of the symbols decide them. Nothing if an
/// element of the result is no such form.
/// @param operands for each tensor of the definition, in order; those of results are ignored
/// @param extents at any values of the symbols @pre there is one result
std::optional<Forms> fold_forms(const Definition& definition, const BoundExtents& extents,
                                const std::vector<Forms>& operands, std::span<const DimSymbol> symbols);

}  // namespace tessera::import::onnx
