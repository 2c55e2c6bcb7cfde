#pragma once

#include <optional>
#include <vector>

#include "chip/chip_description.h"
#include "facts/work.h"
#include "partition/footprints.h"

namespace tessera::partition {

/// The iterators of a product that a matrix unit can sum, by what they do.
struct ProductRoles {
    std::vector<size_t> rows;     ///< of the left factor only
    std::vector<size_t> columns;  ///< of the right factor only
    std::vector<size_t> summed;   ///< reductions of both
    std::vector<size_t> batch;    ///< all others
    friend bool operator==(const ProductRoles&, const ProductRoles&) = default;
};

/// A definition that sums products of two operands, or the weighted values of a softmax; empty otherwise.
std::optional<ProductRoles> product_roles(const Definition& definition);

/// Two for each iteration of such a definition, those that a predicate leaves out too; 0 for others.
double product_flops(const facts::BoundDefinition& bound);

/// Cycles in which a core executes one tile, whatever links and other cores do: those of its units or of the
/// SRAM port, whichever is longer, and the overhead of a tile.
///
/// The matrix unit takes whole blocks. It sums products; everything else, the exponentials of a softmax among
/// it, is for the vector unit. Iterations that the predicate leaves out count.
class TileCost {
public:
    TileCost(const facts::BoundDefinition& bound, const Footprints& footprints,
             const chip::ChipDescription& chip);

    double cycles(const TileSizes& sizes) const;
    double matrix_flops(const TileSizes& sizes) const;  ///< of whole blocks
    double vector_flops(const TileSizes& sizes) const;
    double sram_bytes(const TileSizes& sizes) const;  ///< that operands and results hold
    bool uses_matrix_unit() const { return roles_ && chip_.matrix; }

private:
    const facts::BoundDefinition& bound_;
    const Footprints& footprints_;
    const chip::ChipDescription& chip_;
    std::optional<ProductRoles> roles_;
    facts::OperationCount body_, value_, post_;
    std::vector<bool> is_scored_;  ///< iterators of which the score of a softmax depends
};

}  // namespace tessera::partition
