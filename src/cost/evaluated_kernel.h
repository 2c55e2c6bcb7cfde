#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory_resource>
#include <set>
#include <span>

#include "cost/evaluate.h"

namespace tessera::cost {

/// A kernel at one point. Its notes lie in the object itself, since a search makes millions of them.
class Evaluator::OfKernel {
public:
    OfKernel(Evaluator& evaluator, const lowering::TiledKernel& kernel, size_t point)
        : evaluator_(evaluator), kernel_(kernel), point_(point) {
        for (auto* by_loop : {&trips_, &shares_}) by_loop->reserve(kernel.loops.size());
        sizes_.reserve(kernel.loops.size());
        for (size_t l = 0; l < kernel.loops.size(); ++l) {
            const lowering::TiledLoop& loop = kernel.loops[l];
            const int64_t around =
                loop.outer >= 0 ? sizes_[static_cast<size_t>(loop.outer)] : extent_of(loop.op, loop.iterator);
            sizes_.push_back(std::max<int64_t>(1, std::min(loop.tile, around)));
            const double all = static_cast<double>(around) / static_cast<double>(sizes_.back());
            trips_.push_back(all * executed_share(static_cast<int>(l)));
            shares_.push_back(trips_.back() / all);
        }
    }

    /// The share of all trips that the worker with most of them executes. @pre the sizes of this loop and
    /// those around it are known
    double executed_share(int at) const;

    using Extents = std::span<const int64_t>;  ///< by iterator

    /// Extents of an operator's iterators within one trip of its first `depth` loops.
    std::vector<int64_t> extents(const lowering::TiledOperator& tiled, size_t depth) const;
    int64_t extent(const lowering::TiledOperator& tiled, size_t x, size_t depth) const;

    double executions(const lowering::TiledOperator& tiled, size_t depth) const;

    Evaluation evaluate(std::span<const int> leaves, const std::vector<bool>& is_tile);
    /// The published model's price in place of the evaluator's own. @pre `sum` is whole, and all is tabulated
    void price_as_published(const std::vector<bool>& is_tile, Evaluation& sum) const;

    /// The parts of the workers are in place of what was folded.
    void only_parts(int op, std::vector<int64_t>& extents) const;

    /// Every access to a storage outside of its tiles.
    void for_each_touched(const std::vector<bool>& is_tile,
                          const std::function<void(int storage, double bytes, bool is_result)>& visit) const;

    double buffer_bytes(const std::vector<bool>& is_tile);
    /// The innermost tiles of all tensors, each storage once.
    double tile_bytes() const;
    /// Every result that exists in tiles only, with the bytes of a tile, and those that are touched from one
    /// tile to the next.
    void for_each_buffer(
        const std::vector<bool>& is_tile,
        const std::function<void(const Tensor& tensor, double bytes, double footprint)>& visit);

    /// The level in which a step finds a tensor; empty: as a kernel finds it that runs alone.
    std::function<size_t(const Tensor&)> found_in;

private:
    class Blocks;

    static bool is_in_tiles(const lowering::TiledOperator& tiled, const Tensor& tensor,
                            const std::vector<bool>& is_tile) {
        return tensor.is_result ? is_tile[static_cast<size_t>(tiled.op)]
                                : tensor.producer >= 0 && is_tile[static_cast<size_t>(tensor.producer)];
    }
    const Operator& facts(const lowering::TiledOperator& tiled) const {
        return evaluator_.operators_[static_cast<size_t>(tiled.op)];
    }
    int64_t extent_of(int op, int x) const {
        return evaluator_.operators_[static_cast<size_t>(op)].points[point_].extents[static_cast<size_t>(x)];
    }

    /// Bytes of a tensor with these extents of the iterators.
    double bytes(const lowering::TiledOperator& tiled, size_t tensor, Extents extents) const;
    /// Within one trip of the operator's first `depth` loops. @pre tabulated, with bytes
    double bytes_within(const lowering::TiledOperator& tiled, size_t tensor, size_t depth) const {
        const Places& at = places_[number_of(tiled)];
        return bytes_[at.bytes + depth * facts(tiled).tensors.size() + tensor];
    }

    /// Extents of all operators at all depths, and who touches which storage: each is asked for many times.
    void tabulate();
    void tabulate_bytes();
    size_t number_of(const lowering::TiledOperator& tiled) const {
        return static_cast<size_t>(&tiled - kernel_.operators.data());
    }
    /// As `extents`. @pre tabulated
    Extents within(const lowering::TiledOperator& tiled, size_t depth) const {
        const size_t iterators = tiled.ranges.size();
        return {extents_.data() + places_[number_of(tiled)].extents + depth * iterators, iterators};
    }

    /// Computes the footprint of one trip of each loop and of the whole kernel, each storage once.
    void measure_footprints();

    double rate(size_t level) const { return evaluator_.model_.seconds_per_byte(level, evaluator_.workers_); }

    /// Bytes that one trip of the operator's first `depth` loops touches. @pre footprints were measured
    double footprint(const lowering::TiledOperator& tiled, size_t depth) const {
        return depth == 0 ? footprints_.back() : footprints_[static_cast<size_t>(tiled.loops[depth - 1])];
    }

    bool runs_with(const lowering::TiledOperator& tiled, const Tensor& tensor, int loop) const;

    /// True if each trip of the loop folds a part of the operator's reduction.
    bool folds(const lowering::TiledOperator& tiled, int loop) const;

    /// The share of its transfers that a tensor waits for, because its elements lie side by side only in
    /// runs.
    double waits_for_runs(const lowering::TiledOperator& tiled, const NumberedLeaf& leaf,
                          const Tensor& tensor) const;
    /// The share of its transfers from this level that a product of few rows waits for, because loops around
    /// it cut operand `t` into pieces that lie apart.
    double waits_for_pieces(const lowering::TiledOperator& tiled, size_t t, size_t level) const;
    /// Adds what the operator moves to the levels. @return the farthest level that it reads from
    size_t transfer(const lowering::TiledOperator& tiled, const NumberedLeaf& numbered,
                    const Definition& definition, const LeafCost& price, const std::vector<bool>& is_tile,
                    Evaluation& sum) const;
    /// The share of B's latency that passes between the request of a line and its use. The rows of A are so
    /// many streams that the processor's own prefetchers lose B: on a Zen 5, products of 16 rows read F32
    /// from the memory at 11 to 19 GB/s in 1 to 4 groups of lanes, and at 28 with requests 16 KiB ahead.
    double share_ahead(const LeafCost& price, size_t level) const;

    /// Seconds in which one call of a product reads its panels of columns from the second cache for every
    /// block of rows, because the rows of a panel share sets of the first one. @pre tabulated
    double panel_seconds(const lowering::TiledOperator& tiled, const NumberedLeaf& leaf, Extents extents,
                         const std::vector<bool>& is_tile) const;

    /// Seconds in which the calls of a product read lines of A of which they use a part, because neither its
    /// rows nor what is summed lie side by side: each time all of them do not stay in the first cache.
    double row_seconds(const lowering::TiledOperator& tiled, const NumberedLeaf& leaf, Extents extents,
                       const std::vector<bool>& is_tile) const;

    /// A product goes over groups of columns outside and over blocks of rows inside: what no column indexes
    /// is read again for every group of them, behind all rows and a panel of the others.
    template <typename Move>
    void transfer_inside(const lowering::TiledOperator& tiled, const NumberedLeaf& leaf, size_t t,
                         Extents extents, const Move& move) const;

    /// Number of loops around both the operator and the others that make or read the tensor. @pre tabulated
    size_t common_loops(const lowering::TiledOperator& tiled, const Tensor& tensor) const;

    Evaluator& evaluator_;
    const lowering::TiledKernel& kernel_;
    const size_t point_;
    /// Enough for kernels of a dozen operators; larger ones take more from the heap.
    std::array<std::byte, size_t{16} << 10> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::vector<int64_t> sizes_{&memory_};      ///< by loop: values of one trip
    std::pmr::vector<double> trips_{&memory_};       ///< by loop: of the worker with most
    std::pmr::vector<double> shares_{&memory_};      ///< by loop: those of all trips
    std::pmr::vector<double> footprints_{&memory_};  ///< by loop: bytes of one trip; last: of the kernel
    std::pmr::vector<int64_t> extents_{&memory_};    ///< of each operator's iterators, by depth
    std::pmr::vector<double> bytes_{&memory_};       ///< of each operator's tensors, by depth
    struct Places {
        size_t extents, bytes;  ///< where those of the first depth begin
    };
    std::pmr::vector<Places> places_{&memory_};  ///< by operator
    struct Touch {
        int storage;
        size_t op;  ///< in the kernel
        auto operator<=>(const Touch&) const = default;
    };
    std::pmr::vector<Touch> touches_{&memory_};  ///< in ascending order
};

}  // namespace tessera::cost
