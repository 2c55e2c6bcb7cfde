#pragma once

#include <vector>

#include "lowering/kernels/contraction.h"
#include "lowering/kernels/product_tile.h"

/// Shared parts of the micro-kernels that read an operator as a `Contraction`.
namespace tessera::kernels {

struct ContractionTile : ProductIterators {
    Contraction product;
    int c;  ///< position of the result
};

/// The tile, with the factors A and B determined by the iterators m, n and k. @throws Error if neither factor
/// is A
ContractionTile contraction_tile(const lowering::LeafScope& scope);

std::vector<Read> factors_read(const ContractionTile& tile);

/// An operand is read at its strides; anything else is computed from the operands group by group.
movement::Factor factor_b(const lowering::LeafScope& scope, const ContractionTile& tile,
                          const std::vector<movement::Index>& at, const FactorPositions& positions,
                          int64_t lanes);

}  // namespace tessera::kernels
