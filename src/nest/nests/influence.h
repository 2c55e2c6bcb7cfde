#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "nest/nests/nest.h"

namespace tessera::nests {

/// Which loops around a place can change the range of an iterator there, by the form of the maps alone. All
/// others never do. Bit i of a mask: the loop at position i of `Nest::around`.
class Influence {
public:
    Influence(const Kernel& kernel, const Nest& nest) : kernel_(kernel), nest_(nest) {}

    /// On the range of an iterator in the region of its operator when only the first `depth` loops count.
    uint64_t on_range(int op, size_t iterator, size_t depth);
    /// On its range in the frame.
    uint64_t on_frame(int op, size_t iterator, size_t depth);
    /// On any range in the frame, and on whether it is empty.
    uint64_t on_frame(int op, size_t depth);
    /// On the box that it reads of a tensor in its region, as long as that is not empty.
    uint64_t on_read(int op, int tensor, size_t depth);
    /// On the box that covers what all operators read of a tensor there.
    uint64_t on_load(int tensor, size_t depth);

private:
    uint64_t of_readers(int op, size_t iterator, size_t depth);

    const Kernel& kernel_;
    const Nest& nest_;
    std::map<std::tuple<int, size_t, size_t>, uint64_t> known_;  ///< of readers
};

}  // namespace tessera::nests
