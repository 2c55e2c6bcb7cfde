#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "search/tiles/box_bounds.h"

namespace tessera::tiles {

struct OpenBox {
    Box box;
    double bound = 0;
    int64_t number = 0;  ///< in the order in which they were made: decides between equal bounds
};

/// The boxes that are still to be searched. Those of the least bound come first, so that the bound of the
/// whole search rises. The latest come first as long as no assignment is known, and when memory is short.
class OpenBoxes {
public:
    void add(OpenBox open);
    std::optional<OpenBox> take();
    /// From now on the least bound comes first.
    void order_by_bound();
    /// The least bound of all; infinite if there is none.
    double bound() const;

private:
    bool is_ordered_ = false;
    std::vector<OpenBox> heap_;
    std::vector<OpenBox> stack_;  ///< the latest is taken before those of the heap
};

}  // namespace tessera::tiles
