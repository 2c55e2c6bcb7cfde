#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cost/kernel_times.h"
#include "cost/typical_blocks.h"
#include "cost/vector_work.h"
#include "ir/definition.h"
#include "lowering/plan/nest.h"
#include "machine/machine.h"

namespace tessera::cost {

/// One operator by one micro-kernel on one core, on a part of its iterations.
struct LeafCost {
    double near_seconds = 0;    ///< with all that it reads in the core's own caches
    double least_seconds = 0;   ///< no larger than the sum over any parts of these iterations
    double stall_per_byte = 0;  ///< of a product: see ProductTime
    double first_seconds = 0;   ///< of near_seconds: while B, asked for so long before, is read; 0: unknown
    double ahead_seconds = 0;
    double streamed_bytes = 0;  ///< of B, each element once
    double calls = 0;           ///< of a product: of the micro-kernel
    std::string why_infinite;   ///< no micro-kernel does this, or the machine has no rate for it; else empty
    bool operator==(const LeafCost&) const = default;
};

/// Costs on a machine: a pure function of its description. The rules below hold for a measured machine. For
/// any other, costs are its roofs, as its description gives them or as they typically are (typical_rates.h):
/// such costs tell forms of an operator apart, and are no predictions.
///
/// Products and the streaming softmax cost what the table of micro-kernels says (kernel_times.h); where it
/// has none of the kind, what their register blocks take by the peak of the unit (typical_blocks.h). `loops`
/// and `combine` cost the weighted sum of what they do (vector_work.h), by weights that fit the table's times
/// of `loops` best (linear_model.h); so do the post-expression of a product and the predicate of a softmax,
/// which pass over the results and the scores.
class CostModel {
public:
    explicit CostModel(const machine::Machine& machine);

    /// The machine, with typical rates if it was not measured.
    const machine::Machine& machine() const { return machine_; }
    bool is_measured() const { return is_measured_; }
    class PricedLeaf;
    /// The leaf with all about it that does not depend on extents. `layouts` as below.
    /// @pre the model and the definition outlive it
    PricedLeaf priced(const Definition& definition, const plan::Leaf& leaf,
                      const std::vector<Layout>& layouts = {}) const;
    /// Cost of the part of an operator with these extents of its iterators. `layouts` are those of its
    /// tensors, as Definition::tensors, for `loops`; without them all are row-major.
    LeafCost leaf(const Definition& definition, const plan::Leaf& leaf, const std::vector<int64_t>& extents,
                  const std::vector<Layout>& layouts = {}) const;

    /// The level for which the table's near times hold: data there or further in adds no cost.
    size_t near_level() const { return near_level_; }
    /// Seconds per byte of each of `workers` threads that read separate parts of this level.
    double seconds_per_byte(size_t level, int64_t workers) const;
    /// The extra seconds for a byte of a product's B from the level rather than the near level, if they are
    /// `stall` from the main memory with one thread; interpolated by the inverse of the rate.
    double stall_per_byte(double stall, size_t level, int64_t workers) const;
    /// Bytes of the level that each of `workers` threads has to itself.
    int64_t capacity(size_t level, int64_t workers) const;
    double barrier_seconds(int64_t workers) const;
    /// Seconds of one load from a level; 0 if it was not measured.
    double latency_seconds(size_t level) const { return machine_.memory[level].latency_seconds.value_or(0); }

private:
    double seconds_of(const VectorWork& work) const;

    bool is_measured_;
    machine::Machine machine_;
    KernelTimes times_;
    std::vector<double> weights_;  ///< of the counts of a VectorWork
    size_t near_level_;
};

/// A leaf of one operator, which remembers what it has looked up.
class CostModel::PricedLeaf {
public:
    PricedLeaf(const CostModel& model, const Definition& definition, const plan::Leaf& leaf,
               std::vector<Layout> layouts);
    LeafCost operator()(const std::vector<int64_t>& extents);

private:
    struct Longer {
        double all = 1, least = 1;  ///< factors; `least`: of whole blocks
    };

    LeafCost product(const std::vector<int64_t>& extents);
    /// How much longer a call takes than the table says of long sums in one loop, as typical blocks of both
    /// tell: the nine terms of a window are less than what else their block takes.
    Longer longer_than_listed(int64_t m, int64_t n, int64_t k, int64_t runs, int64_t least_k) const;
    LeafCost vector_loops(const std::vector<int64_t>& extents) const;

    const CostModel& model_;
    const Definition& definition_;
    const plan::Leaf leaf_;
    const std::vector<Layout> layouts_;
    std::string why_infinite_;
    bool is_product_ = false;
    // For products only: iterators, types, and the times of calls.
    int m_ = -1, n_ = -1;
    int k_ = -1;             ///< the innermost of the sums
    std::vector<int> sums_;  ///< of one call
    plan::KernelTypes types_;
    double bits_of_b_ = 0;
    std::optional<UnitRate> unit_;
    std::optional<KernelTimes::OfCalls> times_;
};

/// True if there are rates of the memory and times of micro-kernels, `loops` among them. A table without
/// those does not count: most operators would be priced by roofs and look fast beside measured products.
bool is_measured(const machine::Machine& machine);

}  // namespace tessera::cost
