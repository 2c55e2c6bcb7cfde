#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chip/chip_description.h"
#include "chip/partition/network_traffic.h"
#include "chip/partition/tile_cost.h"
#include "chip/partition/workload.h"

namespace tessera::partition {

/// One way to execute an operator on the cores of a chip: it is cut into tiles, one for each core. Operands
/// may rotate (compute-shift, paper 003, 5): the tile is then executed in `steps` along one iterator. Each
/// core holds one part of such an operand at a time, and passes it on to the next core that shares it.
struct ExecutePlan {
    TileSizes sizes;    ///< of a tile
    int64_t tiles = 1;  ///< cores that have one
    int64_t steps = 1;
    size_t along = 0;        ///< the iterator of the steps; meaningless if there is one step
    uint32_t rotating = 0;   ///< bit t: tensor t rotates
    int64_t exec_bytes = 0;  ///< SRAM of a core
    /// Cycles of the tile's steps, but for those in which parts rotate, and of the exchange between chips.
    double compute = 0;
    double shift = 0;         ///< cycles on the link into a core
    double hidden = 0;        ///< cycles of the shift in which the tile computes
    int64_t shift_bytes = 0;  ///< into a core
    double time() const { return compute + shift; }
    /// The time where another's traffic keeps the link busy.
    double time_apart() const { return time() + hidden; }
    friend bool operator==(const ExecutePlan&, const ExecutePlan&) = default;
};

/// The parameters of an operator's plan: how it is executed, and in how many parts preloaded.
struct StatedPlan {
    TileSizes sizes;
    int64_t steps = 1;
    size_t along = 0;
    uint32_t rotating = 0;
    int64_t preload_parts = 1;
    friend bool operator==(const StatedPlan&, const StatedPlan&) = default;
};

constexpr bool rotates_in(uint32_t rotating, size_t tensor) {
    return tensor < 32 && ((rotating >> tensor) & 1) != 0;
}

/// The way that an operand in HBM, which several cores share, comes into their SRAM: each gets one of `parts`
/// from the HBM, and the rest from its peers before the tile begins.
struct PreloadPlan {
    int64_t parts = 1;  ///< of the operand with the most; one with fewer sharers has fewer
    int64_t preload_bytes = 0;
    int64_t distribute_bytes = 0;
    double distribute = 0;  ///< cycles of the links
    double distribute_latency = 0;
    double latency = 0;       ///< cycles on its way from the HBM
    double busiest_link = 0;  ///< cycles of the busiest link between the ports and the cores of a grid
    friend bool operator==(const PreloadPlan&, const PreloadPlan&) = default;
};

/// The number of parts in which an operand is preloaded: the largest divisor of its sharers that is a
/// multiple of `least` and at most `wanted`; `least` if there is none.
int64_t parts_of(int64_t sharers, int64_t least, int64_t wanted);

struct PlanCounts {
    int64_t slicings = 0;  ///< tile sizes that use no more cores than there are
    int64_t plans = 0;     ///< with their rotations
    int64_t fitting = 0;   ///< within the SRAM and the topology
    int64_t front = 0;     ///< of which no other is as fast in as little space
    int64_t rows = 0;      ///< with their preloads, of which none is worse than another in everything
};

/// The partition plans of one operator on one chip, exactly: all tile sizes that divide its iterators among
/// at most as many cores as there are, and all rotations along one iterator.
class PartitionPlans {
public:
    /// `op`: as one chip executes it; `exchange`: cycles of waiting for other chips. @pre all outlive this
    PartitionPlans(const WorkOperator& op, const chip::ChipDescription& chip, double exchange = 0,
                   int64_t most_slicings = kMostSlicings);
    /// This many take some minutes.
    static constexpr int64_t kMostSlicings = 200'000'000;

    /// Calls visit for every plan, fitting or not. @throws Error beyond most_slicings
    void for_each(const std::function<void(const ExecutePlan&)>& visit) const;
    /// True if the chip has room and a place for it.
    bool fits(const ExecutePlan& plan) const;
    /// True if its rotating operands are where they are needed (chip/partition/rotations.h): takes longer.
    bool can_execute(const ExecutePlan& plan) const;
    /// The fastest plan for each space, from the fastest on, and the fastest one if nothing hides traffic.
    /// Ties go to less traffic, then to more cores that share HBM contents. Plans that cannot be executed or
    /// are not accepted are left out.
    using Accept = std::function<bool(const ExecutePlan&)>;
    std::vector<ExecutePlan> front(PlanCounts& counts, const Accept& accepts = {}) const;
    /// The stated execution, with its costs, even if there is no SRAM for it.
    /// @throws Error with `where` and `place` for tiles without cores, and for invalid rotations or those
    /// that cannot be executed
    ExecutePlan execution_of(const StatedPlan& stated, const std::string& where,
                             const std::string& place) const;
    /// The least bytes that each core of the plan gets from the HBM and its peers before it executes.
    int64_t least_preload_bytes(const ExecutePlan& plan) const;
    /// The preloads of a plan, from no distribution on: each next one is smaller and distributes longer.
    std::vector<PreloadPlan> preloads(const ExecutePlan& plan) const;

    /// Distinct bytes that the operator reads from the HBM of this chip.
    int64_t hbm_bytes() const;
    /// Bytes that it writes to the HBM.
    int64_t stored_bytes() const;
    const Footprints& footprints() const { return footprints_; }
    const TileCost& cost() const { return cost_; }
    /// Cycles in which a preload of this many bytes into a core occupies the links.
    double preload_link_cycles(const PreloadPlan& preload, int64_t preload_bytes) const;

private:
    ExecutePlan plan_of(const TileSizes& sizes, int64_t steps, size_t along, uint32_t rotating,
                        const std::vector<Spread>& places) const;
    void visit_rotations(const TileSizes& sizes, const std::function<void(const ExecutePlan&)>& visit) const;
    bool can_rotate(const TileSizes& sizes, int64_t steps, size_t along, uint32_t rotating) const;
    double link_cycles(double bytes) const;
    double latency(int64_t hops) const;
    std::optional<std::vector<Spread>> places_of(const TileSizes& sizes) const;
    Spread sharing_box(const std::vector<Spread>& places, size_t tensor) const;
    bool is_operand(size_t tensor) const;

    const WorkOperator& op_;
    const chip::ChipDescription& chip_;
    double exchange_;
    int64_t most_slicings_;
    Footprints footprints_;
    TileCost cost_;
    NetworkTraffic traffic_;
};

}  // namespace tessera::partition
