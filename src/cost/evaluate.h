#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cost/cost_model.h"
#include "cost/published.h"
#include "cost/touched_lines.h"
#include "cost/weighted_sizes.h"
#include "ir/facts/work.h"
#include "lowering/tiled_kernel.h"
#include "support/hash_vector.h"

namespace tessera::cost {

/// Seconds of one kernel until the worker with most work has done its part; the parts add up. By a published
/// model: `seconds` is its price, `compute` its T_comp, and `levels` add up to its T_mem.
struct Evaluation {
    double compute = 0;  ///< of the operators, all that they read being in the core's own caches
    /// Additional time for reading B of products from its level, for stores to memory, for sums that are
    /// folded in parts, and for the first of all loads.
    double stalls = 0;
    std::vector<double> levels;  ///< transfers, by the level of memory
    /// The sum over the operators of max(compute + stalls, levels) (paper 000, eq. 16): a core computes one
    /// after the other, once the first load has come.
    double seconds = 0;
    double buffer_bytes = 0;   ///< of values that exist in tiles only, at the bounds of the symbols
    double calls = 0;          ///< of leaves
    std::string why_infinite;  ///< the operator that cannot be computed, and why; empty if there is none
};

/// Prices nests of one block in one specialisation. A tensor is transferred once from the level in which it
/// lies, and again in every trip of a loop that does not change what is read of it: from the innermost level
/// that holds all that one trip touches. Micro-kernels of products run over groups of columns outside and
/// over blocks of rows inside.
class Evaluator {
public:
    /// @param constants the level in which constants and states lie
    /// @param published prices kernels in place of the rules above
    Evaluator(const lowering::LoweringInput& input, const lowering::BlockLinks& links,
              std::vector<WeightedSizes> points, const CostModel& model, size_t constants,
              std::optional<Published> published = {});

    /// The number of a leaf, by which the evaluator remembers its prices.
    int number_of(int op, const plan::Leaf& leaf);
    const plan::Leaf& leaf(int number) const { return leaves_[static_cast<size_t>(number)].leaf; }
    struct RowBlock {
        int iterator;
        int64_t rows;
    };
    /// The iterator of a product's rows, and how many of them it computes side by side; none of other leaves.
    std::optional<RowBlock> row_block(int leaf) const {
        const NumberedLeaf& numbered = leaves_[static_cast<size_t>(leaf)];
        if (numbered.m < 0) return std::nullopt;
        return RowBlock{numbered.m, numbered.rows};
    }
    /// Equal for leaves that differ in their register blocks alone.
    int family(int leaf) const { return leaves_[static_cast<size_t>(leaf)].family; }

    /// The mean over the points. @param leaves numbers of those of the kernel's operators, in their order
    /// @param is_tile by operator of the block: its results exist in tiles only
    Evaluation operator()(const lowering::TiledKernel& kernel, std::span<const int> leaves,
                          const std::vector<bool>& is_tile);

    /// The same for a kernel of a plan, perhaps divided between the workers.
    Evaluation operator()(const plan::Nest& nest, const std::vector<bool>& is_tile);
    /// The same at each point.
    std::vector<Evaluation> at_points(const plan::Nest& nest, const std::vector<bool>& is_tile);
    const std::vector<WeightedSizes>& points() const { return points_; }

    /// A kernel of a plan by numbers.
    struct Numbered {
        lowering::TiledKernel kernel;
        std::vector<int> leaves;
    };
    Numbered numbered(const plan::Nest& nest, const std::vector<bool>& is_tile);
    /// The part of a storage outside of its tiles that a kernel, undivided, touches at the first point.
    struct Touched {
        ValueId storage;
        double bytes = 0;
        bool is_written = false;
    };
    std::vector<Touched> touched(const lowering::TiledKernel& kernel, const std::vector<bool>& is_tile);
    /// The price at the first point, with each storage in the level where other kernels have left it.
    Evaluation after_others(const Numbered& kernel, const std::vector<bool>& is_tile,
                            const std::map<ValueId, size_t>& levels);

    /// A value that a kernel keeps in tiles, at the bounds of the symbols.
    struct Buffer {
        ValueId value;
        double bytes = 0;
        size_t level = 0;  ///< the innermost that holds all that is touched from one tile of it to the next
    };
    /// Their bytes add up to Evaluation::buffer_bytes.
    std::vector<Buffer> buffers(const lowering::TiledKernel& kernel, const std::vector<bool>& is_tile);

    /// Bytes of the innermost tiles of all tensors together, at the bounds of the symbols.
    double tile_bytes(const lowering::TiledKernel& kernel);

    int64_t workers() const { return workers_; }
    /// The innermost level that holds so many bytes of one worker; the outermost one if none does.
    size_t level_of(double bytes) const;
    double capacity(size_t level) const { return capacity_[level]; }  ///< in bytes, of one worker
    double near_capacity() const { return capacity_[model_.near_level()]; }
    /// Least use of each resource by an operator, in any kernel: the price says how they overlap.
    struct Least {
        double compute = 0;                   ///< seconds
        double transfers = 0;                 ///< seconds, of each operator by itself
        std::map<int, double> storages = {};  ///< seconds of those that are once for all operators
        double seconds = 0;                   ///< of both, as the evaluator's own price overlaps them
    };
    /// The bound of each operator. @param leaves by operator: some leaf of these computes it
    /// @param is_free by operator: its results need not be stored, so that a kernel may compute the part
    /// alone that its readers need
    std::vector<Least> least(const std::vector<std::vector<int>>& leaves, const std::vector<bool>& is_free);
    /// A lower bound on the price of every kernel of these operators. It counts a producer whole even if its
    /// reader reads it only under a predicate: merges that save by that may be left out.
    double least_seconds(std::span<const Least* const> operators) const;

    /// Seconds of one barrier, by the weights of the points. Published models have none.
    double barrier_seconds() const;
    /// True if a published model prices the work of all workers, and not of the one with most work.
    bool is_of_all_workers() const {
        return published_ && published_->model != machine::PublishedModel::kNncase;
    }
    bool is_published() const { return published_.has_value(); }

    /// An operator's part of a kernel, at each point.
    struct Part {
        std::vector<int> extents;  ///< by number
        std::vector<double> executions;
    };
    Part part(const lowering::TiledKernel& kernel, size_t at);
    /// Those of all operators, in their order.
    std::vector<Part> parts(const lowering::TiledKernel& kernel);
    const std::vector<int64_t>& extents(int op, int number) const {
        return operators_[static_cast<size_t>(op)].extents[static_cast<size_t>(number)];
    }
    /// Seconds of computing a part by a leaf, without transfers; infinite if it cannot.
    double compute(const Part& part, int leaf);
    /// Seconds at a point, by its weight, of one call over these extents by the fastest of the leaves;
    /// infinite if none can.
    double least_of_call(int op, size_t point, const std::vector<int64_t>& extents,
                         std::span<const int> leaves);

private:
    /// A tensor of an operator.
    struct Tensor {
        int storage;                             ///< equal numbers lie at the same place
        std::vector<std::vector<int>> accesses;  ///< iterators of each
        std::vector<int> iterators;              ///< of all of them
        double bytes_each;                       ///< of an element
        bool is_result;
        bool is_constant;   ///< or a state
        int producer = -1;  ///< operator of the block that makes it
        std::vector<std::pair<int, int64_t>> lanes =
            {};  ///< iterators of packed axes, with the lanes of each
        /// The iterators of its axes, outermost first, if it is row-major and each axis is one of them.
        std::vector<int> axes = {};
        /// A digit of an element's place in memory: the iterator div `divisor`, mod `most`.
        struct Digit {
            int iterator;
            int64_t divisor, most;
        };
        /// The innermost digits, the last one first, up to an axis that is no iterator; of the access that
        /// has most of them.
        std::vector<Digit> innermost = {};
        static std::vector<Digit> digits_of(const std::vector<ExprPtr>& access, const Layout& layout);

        /// Bytes of the largest access, with these extents of the iterators.
        double bytes(std::span<const int64_t> extents) const;
        /// How often its lines are read in tiles of these extents, which are perhaps less than the lanes.
        double lines_read(std::span<const int64_t> extents) const;
        /// Bytes that lie side by side of what these extents touch, a line that is touched counting whole;
        /// infinite if all may. @param whole extents of the tensor
        double run_bytes(std::span<const int64_t> extents, std::span<const int64_t> whole,
                         double line_bytes) const;
    };
    struct AtPoint {
        std::vector<int64_t> extents;
        std::vector<double> whole;    ///< bytes of the tensors, with what pads their lanes
        std::vector<double> padding;  ///< how many bytes of the tensors are stored for one that is used
        /// By tensor; empty where an access has none, or there are several.
        std::vector<std::optional<TouchedLines>> lines = {};
    };
    struct Operator {
        facts::WorkRates work;
        std::vector<Tensor> tensors;  ///< as Definition::tensors
        std::vector<Layout> layouts;
        std::vector<AtPoint> points;  ///< and last the upper bounds of the symbols
        /// Numbers of extents of its iterators, for which leaves have prices.
        std::unordered_map<std::vector<int64_t>, int, HashVector> numbers = {};
        std::vector<std::vector<int64_t>> extents = {};  ///< by number
        std::vector<int> leaves = {};                    ///< numbers of its leaves that are known
    };
    struct NumberedLeaf {
        int op, family;
        plan::Leaf leaf;
        CostModel::PricedLeaf priced;
        std::set<int> streamed;  ///< tensors that a product waits for
        int m, n;                ///< of a product: the iterators of its rows and columns; -1: none
        int k;                   ///< the innermost sum of a product's call; -1: it is of no one iterator
        std::vector<int> sums;   ///< over which one call of a product sums, k among them
        int64_t rows, columns;   ///< that it computes side by side
        std::vector<std::optional<LeafCost>> prices;  ///< by number of extents
    };
    class OfKernel;

    /// The mean of evaluations at the points.
    Evaluation mean_of(const std::vector<Evaluation>& at_points) const;
    std::vector<Evaluation> at_points(const lowering::TiledKernel& kernel, std::span<const int> leaves,
                                      const std::vector<bool>& is_tile);
    int number_of_extents(int op, const std::vector<int64_t>& extents);
    const LeafCost& price(int leaf, int extents);
    static double seconds_of(const LeafCost& cost);
    static double seconds_of_calls(const LeafCost& cost);
    Least least_of_whole(int op, std::span<const int> leaves, const std::vector<bool>& is_free);
    /// @param points iterations. @param held those of score and weight of a streaming softmax
    /// @param elements of results that are completed
    static double flops_of(const facts::WorkRates& work, double points, double held, double elements);
    /// All iterations of an operator, each once, whatever its predicate leaves out.
    double flops(int op, size_t point) const;
    /// The tensors of an operator that are read or stored outside of tiles, with all bytes that it touches.
    void for_each_seen(int op, size_t point, const std::vector<bool>& is_tile,
                       const std::function<void(int tensor, double bytes)>& visit) const;

    const lowering::BlockLinks& links_;
    const std::vector<WeightedSizes> points_;
    const CostModel& model_;
    const int64_t workers_;
    const size_t constants_;
    const std::optional<Published> published_;
    std::vector<ValueId> storages_;  ///< by number
    std::vector<Operator> operators_;
    std::vector<double> capacity_;  ///< by level, of one worker
    std::vector<NumberedLeaf> leaves_;
    std::map<std::string, int> families_;
};

}  // namespace tessera::cost
