#pragma once

#include <optional>
#include <vector>

#include "chip/chip_description.h"
#include "chip/partition/footprints.h"
#include "ir/facts/product.h"
#include "ir/facts/work.h"

namespace tessera::partition {

/// The roles of the iterators where a matrix unit can sum the definition: it sums products of two operands,
/// or the weighted values of a softmax. Nothing otherwise.
std::optional<facts::ProductRoles> matrix_roles(const Definition& definition);

/// Two for each iteration of such a definition, those that a predicate leaves out too; 0 for others.
double product_flops(const facts::BoundDefinition& bound);

/// Cycles in which a core executes one tile, whatever links and other cores do: those of its units or of the
/// SRAM port, whichever is longer, and the overhead of a tile.
///
/// The matrix unit takes whole blocks. It sums products; everything else, the exponentials of a softmax among
/// it, is for the vector unit. Iterations that the predicate leaves out count. A chip with costs fitted from
/// measurements of this kind of operator takes those instead.
class TileCost {
public:
    TileCost(const facts::BoundDefinition& bound, const Footprints& footprints,
             const chip::ChipDescription& chip);

    double cycles(const TileSizes& sizes) const;
    double matrix_flops(const TileSizes& sizes) const;  ///< of whole blocks
    double vector_flops(const TileSizes& sizes) const;
    double sram_bytes(const TileSizes& sizes) const;  ///< that operands and results hold
    machine::TileKind kind() const;
    /// The shape of a tile as machine::inputs_of(kind()).
    std::vector<double> inputs(const TileSizes& sizes) const;
    bool uses_matrix_unit() const { return roles_ && chip_.matrix; }

private:
    const facts::BoundDefinition& bound_;
    const Footprints& footprints_;
    const chip::ChipDescription& chip_;
    std::optional<facts::ProductRoles> roles_;
    const machine::TileCosts* fitted_ = nullptr;
    facts::OperationCount body_, value_, post_;
    std::vector<bool> is_scored_;  ///< iterators of which the score of a softmax depends
};

}  // namespace tessera::partition
