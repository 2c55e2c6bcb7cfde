#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/nests/influence.h"
#include "nest/nests/nest.h"

namespace tessera::nests {

/// One trip of a loop around the place of a walk.
struct Trip {
    const Loop* loop = nullptr;
    int64_t index = 0;    ///< counted from 0
    facts::Range range;   ///< of the iterator
    int64_t count = 1;    ///< trips that the loop has here
    uint64_t prefix = 0;  ///< number of this trip in the whole walk: names it and all trips around it
};

/// Ranges of the iterators of every operator at the place of a walk: frames and regions.
///
///     m:16 { n:16 { k:8 { c } e } }    in trip (m 1, n 2): the frame of e is everything, its region m [16,
///     32),
///                                      n [32, 48); the box of C that it reads there is the frame of c
///
/// An operator at which loops have influence only down to some depth has its frame derived once for each trip
/// there. All operators concerned must stand inside the loops of the trips that count.
class Ranges {
public:
    Ranges(const Kernel& kernel, const Nest& nest);

    const std::vector<Trip>& trips() const { return trips_; }
    void enter(const Loop& loop, int64_t count);
    void set_trip(int64_t index, facts::Range range);
    void leave() { trips_.pop_back(); }

    /// The name of the first `depth` trips: the same number, the same trips.
    uint64_t prefix(size_t depth) const { return depth == 0 ? 0 : trips_[depth - 1].prefix; }

    /// Before the operator's own loops restrict it, when only the first `depth` loops count; null if nothing
    /// of it is needed. Valid until the next trip.
    const facts::IterationBox* frame(int op, size_t depth);
    /// The frame restricted by the trips of the operator's own loops; false if nothing of it is needed.
    bool region(int op, size_t depth, facts::IterationBox& ranges);
    /// One range of that region; empty if nothing is needed.
    facts::Range range(int op, size_t iterator, size_t depth);

    /// The box of what an operator reads of its operand in these ranges; false if it is empty.
    bool read_box(int op, size_t operand, const facts::IterationBox& ranges, Box& box);

    Influence& influence() { return influence_; }

private:
    struct Frame {
        std::optional<uint64_t> prefix;  ///< for which it was derived
        bool is_empty = true;
        facts::IterationBox ranges;
    };
    void derive(int op, size_t depth, Frame& frame);
    void restrict_to_trips(int op, size_t depth, facts::IterationBox& ranges) const;

    const Kernel& kernel_;
    const Nest& nest_;
    Influence influence_;
    std::vector<Trip> trips_;
    uint64_t last_prefix_ = 0;
    std::vector<std::vector<ReadBox::Counted>> counted_;  ///< of each operator and operand
    std::vector<std::vector<Frame>> frames_;              ///< of each operator, by the loops that count
};

}  // namespace tessera::nests
