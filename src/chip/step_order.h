#pragma once

#include <cstdint>
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
        bool is_tile = false;
        TransferKind kind = TransferKind::kDistribute;
        size_t index = 0;  ///< of the operator's list
    };

    /// Takes those that may begin now.
    std::vector<Item> take_ready();
    void arrived(TransferKind kind, size_t index);  ///< at all its receivers
    void computed(size_t tile);
    bool is_done() const { return left_ == 0; }

private:
    struct Waiting {
        Item item;
        size_t arrivals;  ///< groups of arrivals that must be complete, from the first on
        size_t tiles;
    };
    struct Core {
        std::vector<int32_t> arrivals;  ///< still to come: of distribution, then of each step
        std::vector<int32_t> tiles;     ///< of each step
        size_t first_arrival = 0;       ///< the first group that is not complete
        size_t first_tile = 0;
        std::vector<Waiting> waiting;
    };

    size_t number(int64_t step) const;
    size_t group(TransferKind kind, const Transfer& transfer) const;
    void wake(int32_t core);

    const ProgramOperator& op_;
    std::vector<int64_t> steps_;  ///< distinct, increasing
    std::vector<Core> cores_;
    std::vector<Item> ready_;
    size_t left_ = 0;
};

}  // namespace tessera::chip
