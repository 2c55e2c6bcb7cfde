#pragma once

#include <cstdint>
#include <vector>

/// The devices that a program is distributed over (paper 000, 3.1.3).
namespace tessera::distribution {

/// One axis of the device array. A message between two devices that differ in this coordinate costs
/// latency + bytes x seconds_per_byte.
struct Level {
    int64_t count = 2;            ///< of coordinates, at least 2
    double latency = 0;           ///< alpha, seconds
    double seconds_per_byte = 0;  ///< beta
    /// The devices of a group have one memory: B is one copy and S a view, and of a box only a barrier and
    /// the reads remain. No level within such a one has memory of its own.
    bool shares_memory = false;
    bool operator==(const Level&) const = default;
};

/// A nested device array: a device has one coordinate for each level.
struct Placement {
    std::vector<Level> levels;  ///< the outermost first

    size_t rank() const { return levels.size(); }
    int64_t devices() const {
        int64_t all = 1;
        for (const Level& level : levels) all *= level.count;
        return all;
    }
    /// Memories that the devices have together.
    int64_t domains() const {
        int64_t all = 1;
        for (const Level& level : levels)
            if (!level.shares_memory) all *= level.count;
        return all;
    }
    bool operator==(const Placement&) const = default;
};

}  // namespace tessera::distribution
