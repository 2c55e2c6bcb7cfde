#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "nest/nests/ranges.h"

namespace tessera::nests {

/// Finds the loops of which one trip more or less alone changes a box: two passages whose trips differ in
/// this loop only, and whose boxes differ. Passages come in the order of a walk, so that those which differ
/// in a loop alone lie within one trip of the loops around it; only these are remembered.
class Dependence {
public:
    /// `candidates`: the loops that may be such; no others are looked at.
    explicit Dependence(uint64_t candidates) : open_(candidates) {
        const auto positions = static_cast<size_t>(std::bit_width(candidates));
        seen_.resize(positions);
        around_.resize(positions);
    }

    /// A passage at the first `depth` trips with this box, not an empty one. Equal numbers, equal boxes.
    /// @return how many passages it newly remembers
    int64_t pass(const Ranges& ranges, size_t depth, int box);

    /// Bit i: the loop at position i is one.
    uint64_t found() const { return found_; }

private:
    uint64_t open_;
    uint64_t found_ = 0;
    /// For each loop: trips of the loops inside of it -> the box, within one trip of those around it.
    std::vector<std::unordered_map<std::string, int>> seen_;
    std::vector<std::optional<uint64_t>> around_;
};

}  // namespace tessera::nests
