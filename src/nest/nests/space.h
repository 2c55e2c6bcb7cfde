#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/nest_text.h"
#include "nest/nests/kernel.h"
#include "nest/nests/kernel_file.h"

/// Spaces of nests of a chain: a product, perhaps element-wise operators, and a reduction of what they make.
namespace tessera::nests {

/// Axes of a tensor in a space.
inline constexpr size_t kMostAxes = 8;

/// A tensor of one operator of a chain, by the iterators of the space.
struct SpaceTensor {
    enum class Kind : uint8_t { kRead, kKept, kWritten };
    Kind kind = Kind::kRead;
    std::vector<size_t> axes;  ///< iterators of the space; a `b div 3` counts as b, of which a tile holds one
    int64_t elements = 1;      ///< that the nest needs: the product of the extents of the axes
    int64_t element_bytes = 1;
};

struct SpaceOperator {
    std::vector<SpaceTensor> tensors;  ///< without what the operator before it makes
    std::vector<size_t> iterators;     ///< of the space
    bool has_own_loop = false;         ///< the first, around which a loop over `k` stands
    bool is_root = false;
};

/// A chain and what its nests may be. Its iterators: those of the root, and behind them the reduction of the
/// first operator.
struct Space {
    Kernel kernel;
    std::vector<std::string> names;  ///< of the iterators
    std::vector<int64_t> extents;
    std::vector<size_t> batch;   ///< iterators of which every nest takes one value at a time
    std::vector<size_t> loops;   ///< the other iterators of the root
    size_t reduction = 0;        ///< of the root
    size_t k = 0;                ///< the reduction of the first operator
    std::vector<size_t> unused;  ///< softmax_sum: parallel iterators that its maximum does not use
    std::vector<SpaceOperator> operators;
    int64_t multiple = 1;
    int64_t capacity = 0;  ///< bytes
    machine::PeakRates machine;

    bool is_parallel(size_t iterator) const { return iterator != reduction && iterator != k; }
    /// Ascending: the multiples of `multiple` up to the extent, and the extent. @pre not of the batch
    std::vector<int64_t> sizes(size_t iterator) const;
};

/// One of p! (p + 1): the order of the root's loops, and how many of them stand around the producers.
struct Structure {
    std::vector<size_t> order;
    size_t depth = 0;

    bool is_deep() const { return depth == order.size(); }
    bool operator==(const Structure&) const = default;
};

/// All structures. @throws Error if there are too many loops
std::vector<Structure> structures(const Space& space);

/// The iterators with `@unit`: the batch, and the longest parallel prefix of the loops around the producers.
std::vector<size_t> units(const Space& space, const Structure& structure);

/// The nest that a structure and the tile sizes (of each iterator of the space; that of the batch is 1) give.
nest::WrittenNest written_nest(const Space& space, const Structure& structure,
                               const std::vector<int64_t>& tiles);

/// @throws Error for what is no chain, saying why
Space make_space(const KernelFile& file);

}  // namespace tessera::nests
