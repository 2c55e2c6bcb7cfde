#include "lowering/kernels/contraction_tile.h"

#include "ir/iterator_use.h"
#include "lowering/refusal.h"

namespace tessera::kernels {

ContractionTile contraction_tile(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const ProductIterators iterators = product_iterators(scope);
    const auto [m, n, k] = iterators;
    if (std::optional<Contraction> product = contraction_by(definition, m, n, k))
        return {iterators, *std::move(product), definition.results().front()};
    throw lowering::Refused(
        scope.node.name, std::string(scope.leaf.kernel->name),
        "n must index one factor and the result, k both factors and not the result, m the other factor "
        "and the result",
        "choose other iterators for m, n and k");
}

std::vector<Read> factors_read(const ContractionTile& tile) {
    std::vector<Read> reads = tile.product.b_reads;
    reads.push_back(tile.product.a);
    return reads;
}

/// An operand is read at its strides; anything else is computed from the operands group by group.
movement::Factor factor_b(const lowering::LeafScope& scope, const ContractionTile& tile,
                          const std::vector<movement::Index>& at, const FactorPositions& positions,
                          int64_t lanes) {
    if (const Read* operand = tile.product.b_operand())
        return operand_factor(scope, *operand, at, positions, lanes);
    if (positions.k_lanes > 1) {
        throw lowering::Refused(scope.node.name, "k_lanes", "its factor is computed from several operands",
                                "leave k_lanes out");
    }
    return computed_factor(scope, tile.product.b, at, positions);
}

}  // namespace tessera::kernels
