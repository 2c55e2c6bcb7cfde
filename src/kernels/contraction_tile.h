#pragma once

#include <vector>

#include "kernels/contraction.h"
#include "kernels/product_tile.h"

/// What the micro-kernels that read an operator as a `Contraction` share.
namespace tessera {

struct ContractionTile : ProductIterators {
    Contraction product;
    int c;  ///< position of the result
};

/// Which factor is A and which is B follows from the iterators m, n and k. @throws Error if neither is
ContractionTile contraction_tile(const LeafScope& scope);

std::vector<Read> factors_read(const ContractionTile& tile);

/// An operand is read at its strides; anything else is computed from the operands group by group.
Factor factor_b(const LeafScope& scope, const ContractionTile& tile, const std::vector<Index>& at,
                const FactorPositions& positions, int64_t lanes);

}  // namespace tessera
