#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "chip/device_program.h"

namespace tessera::chip {

/// The parts of an execute that may begin, as data arrives and tiles are done, by core: a tile or a shift of
/// step s after all arrivals of steps before s, a tile also after the core's tiles before s, a reduce also
/// after those of s, a store after everything. Transfers without bytes and tiles without flops are nothing.
class StepOrder {
public:
    explicit StepOrder(const ProgramOperator& op, int32_t cores);

    struct Item {
        uint32_t index = 0;  ///< of the operator's list
        TransferKind kind = TransferKind::kDistribute;
        bool is_tile = false;
    };

    /// All that a core waits for in a group of arrivals has landed by `time`. Stores are for no core: theirs
    /// is kNoCore.
    struct Completed {
        int32_t core = 0;
        int32_t group = 0;
        double time = 0;
    };
    static constexpr int32_t kNoCore = -1;

    /// Those that may begin now; the caller clears them.
    std::vector<Item>& ready() { return ready_; }
    /// A transfer will have arrived at all its receivers by `time`. Adds the groups of which it is the last
    /// one; the caller says when their time has come.
    /// @param core the receiver if there is one, otherwise -1
    void will_arrive(TransferKind kind, size_t index, int32_t core, double time,
                     std::vector<Completed>& completed);
    void arrived(int32_t core, int32_t group);
    void computed(size_t tile);
    bool is_done() const { return left_ == 0; }

private:
    struct Waiting {
        Item item;
        uint32_t arrivals;  ///< groups of arrivals that must be complete, from the first on
        uint32_t tiles;
    };
    /// Arrivals at a core that belong together: of distribution, or of a step.
    struct Group {
        int32_t to_land = 0;
        bool is_there = true;
        double latest = 0;
    };
    struct Core {
        std::vector<int32_t> tiles;  ///< left, of each step
        size_t first_arrival = 0;    ///< the first group that is not complete
        size_t first_tile = 0;
        size_t first = 0, count = 0;  ///< of `waiting_`
    };

    /// Those of a group lie together, since one transfer may be for all cores.
    Group& arrivals(int32_t core, size_t group) {
        return arrivals_[group * cores_.size() + static_cast<size_t>(core)];
    }
    void collect(const std::vector<std::pair<int32_t, Waiting>>& items);
    void expect(Group& group);
    void land(Group& group, int32_t core, size_t number, double time, std::vector<Completed>& completed);
    size_t number(int64_t step) const;
    size_t group(TransferKind kind, const Transfer& transfer) const;
    void wake(int32_t core);

    const ProgramOperator& op_;
    std::vector<int64_t> steps_;  ///< distinct, increasing
    std::vector<Core> cores_;
    std::vector<Group> arrivals_;                 ///< of distribution, then of each step; of each core
    std::array<std::vector<uint32_t>, 5> group_;  ///< of the transfers of each kind, by TransferKind
    std::vector<Waiting> waiting_;                ///< of each core after the other
    std::vector<Item> ready_;
    Group stores_;
    size_t left_ = 0;  ///< tiles, and groups that are not complete
};

}  // namespace tessera::chip
