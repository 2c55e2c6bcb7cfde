#pragma once

#include <span>

#include "search/egraph/operator.h"

/// Packing as an operator: the same elements in another layout. Unpacking is packing to row-major.
namespace tessera::rules {

/// @pre the symbols of the operand's shape are among `symbols`
egraph::Operator pack_operator(const TensorType& operand, const Layout& layout,
                               std::span<const DimSymbol> symbols);

bool is_pack(const egraph::Operator& op);

}  // namespace tessera::rules
