#pragma once

#include <functional>
#include <vector>

#include "lowering/kernels/candidates.h"
#include "lowering/kernels/contraction.h"
#include "lowering/kernels/register_blocks.h"
#include "lowering/kernels/tile_block.h"

/// How micro-kernels for products choose their parameters: parts that several share.
namespace tessera::kernels {

/// The operator as a sum of products, lanes along one of B's iterators.
struct ProductReading {
    const Contraction& roles;
    int n, k;
    int64_t rows;     ///< of A, at most
    int index;        ///< among all readings
    plan::Leaf leaf;  ///< with its iterators
};
/// Every way to read the operator so: the rows are the longest iterator of those that may share reads of B,
/// or each of the longest if there are several, such as the height and the width of an image.
void for_each_reading(const CandidateScope& scope, const std::function<void(const ProductReading&)>& offer);

/// The iterator with most rows; -1 if there are no iterators.
int longest(const std::vector<int>& iterators, const CandidateScope& scope);

/// The preferred block alone, or all of them.
std::vector<RegisterBlock> offered(std::vector<RegisterBlock> blocks, const KernelTarget& target);

/// Pages, which are short runs of memory.
bool is_found_by_index(const Read& operand);

/// B has to be widened or decoded, and A is read as it is however often.
bool has_panels(const CandidateScope& scope, const Contraction& roles);

/// The leaf for a register block of so many rows, B by panels from `least_rows` on; nothing where a product
/// has too few rows for that.
std::optional<plan::Leaf> with_panels(plan::Leaf leaf, int64_t block_rows, int64_t rows,
                                      int64_t least_rows = 0);

/// The leaf in a matrix unit's tiles; `rows` of 0 stay what they are.
plan::Leaf in_tiles(plan::Leaf leaf, const TileBlock& block);

}  // namespace tessera::kernels
