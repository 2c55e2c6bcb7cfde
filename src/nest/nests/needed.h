#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "nest/nests/ranges.h"

namespace tessera::nests {

/// The box that is needed at a place of the walk, derived again only after a trip that can change it.
class Needed {
public:
    Needed() = default;
    /// `loops`: those that can change it, as Influence says.
    explicit Needed(uint64_t loops) : depth_(static_cast<size_t>(std::bit_width(loops))) {}

    /// Its number; -1 if it is empty. `derive()` gives it anew.
    int at(const Ranges& ranges, auto&& derive) {
        const uint64_t prefix = ranges.prefix(depth_);
        if (prefix_ != prefix) {
            prefix_ = prefix;
            number_ = derive();
        }
        return number_;
    }

private:
    size_t depth_ = 0;                ///< the outer trips that name the box
    std::optional<uint64_t> prefix_;  ///< at which it was derived
    int number_ = -1;
};

}  // namespace tessera::nests
