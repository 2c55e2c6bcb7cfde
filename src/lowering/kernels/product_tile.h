#pragma once

#include <array>

#include "lowering/kernels/tile_block.h"
#include "lowering/leaf.h"

/// Shared parts of the micro-kernels for sums of products: a tile over m, n and k with loops around it, and
/// its operands at strides inside it.
namespace tessera::kernels {

inline constexpr const char* kRow = "#m";  ///< positions inside the tile; they become strides
inline constexpr const char* kGroup = "#g";
inline constexpr const char* kStep = "#k";
inline constexpr const char* kColumn = "#n";
inline constexpr const char* kInStep = "#j";
inline constexpr std::array kSums = {"#s", "#t", "#u"};  ///< of sums around that over k

inline constexpr int64_t kPair = 2;  ///< neighbouring k in the lanes of a matrix unit's B

/// Iterators; m is -1 for a single row.
struct ProductIterators {
    int m, n, k;
};
/// Those that the leaf's parameters name. @throws Error without n or k.
ProductIterators product_iterators(const lowering::LeafScope& scope);

/// The parts of n of which a block has a group each; 1: its groups lie beside each other.
/// @throws Error for other numbers than the groups of a block, and with panels.
int64_t streams_of(const lowering::LeafScope& scope);

/// The tiles of a matrix unit that the leaf's parameters name. @throws Error for more than it holds.
TileBlock tile_parameters_of(const lowering::LeafScope& scope);

/// The range of the rows' iterator; a single row if it is -1.
lowering::Range row_range(const lowering::LeafScope& scope, int m);

/// 0 <= name < count.
movement::Index position(const char* name, int64_t count);
movement::Index extent(const lowering::Range& range);
int64_t groups_in(const lowering::Range& range, int64_t lanes);

/// An address whose iterators inside the tile are the positions above; their strides.
class TileAddress {
public:
    TileAddress(const lowering::LeafScope& scope, int tensor, const std::vector<ExprPtr>& map,
                const std::vector<movement::Index>& at, bool is_written);

    /// @throws Error if the position has no fixed stride.
    int64_t stride(const char* position) const;
    void expect_stride(const char* position, int64_t expected) const;
    /// True if it has a fixed stride; an operand read through an index, such as a page table, may have none.
    bool is_strided(const char* position) const;
    /// The address at the first position.
    movement::Address start() const;

private:
    const lowering::LeafScope& scope_;
    std::string tensor_;
    movement::Address address_;
};

/// Loops over iterators other than m, n and k. If any is a reduction, the call folds into the result.
struct ProductTile {
    lowering::LeafLoops loops;
    bool accumulates;
    movement::Body before;
};
/// @param inside reductions that the call itself sums over, besides k
ProductTile surrounding(const lowering::LeafScope& scope, const ProductIterators& iterators,
                        const std::vector<int>& inside = {});
movement::Body finished(const lowering::LeafScope& scope, ProductTile tile, movement::Statement call);

/// Values of all iterators of the tile: variables of their ranges.
std::vector<movement::Index> anywhere(const lowering::LeafScope& scope);
/// @throws Error if the tile may read one of these out of range.
void refuse_reads_outside(const lowering::LeafScope& scope, const std::vector<Read>& reads);

/// A factor over two positions in the tile, of which `outer` has `outer_count` values.
struct FactorPositions {
    const char* outer;
    int64_t outer_count;
    const char* inner;
    int64_t inner_count;
    int64_t k_lanes = 1;  ///< that lie side by side between the lanes
};
/// An operand at its strides, or, where these are not fixed, loaded group by group.
movement::Factor operand_factor(const lowering::LeafScope& scope, const Read& operand,
                                const std::vector<movement::Index>& at, const FactorPositions& positions,
                                int64_t lanes);
/// The value of an expression, computed group by group.
movement::ComputedFactor computed_factor(const lowering::LeafScope& scope, const ExprPtr& value,
                                         const std::vector<movement::Index>& at,
                                         const FactorPositions& positions);

/// True if the operand is a constant stored with a multiple of these lanes, so that its last group can be
/// read whole. `inner`: how many lanes of the layout stand behind these.
bool is_padded(const lowering::LeafScope& scope, const Read& read, int64_t lanes, size_t inner);

}  // namespace tessera::kernels
