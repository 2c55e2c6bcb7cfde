#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::chip {

/// A way to hold one operator: less memory for more time.
struct MemoryPoint {
    int64_t bytes = 0;
    double time = 0;
    size_t row = 0;
    friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

/// The points of which no other is as good in both numbers, from the fastest, which is the largest, on.
std::vector<MemoryPoint> memory_front(std::vector<MemoryPoint> points);

/// Chooses a point of every front so that all bytes together are at most `capacity`, for a small total time.
/// Source: paper 003, 4.3: every front begins with its fastest point, and the front whose next point frees
/// the most bytes for each added cycle goes on to it, until all fits. @return none if even the smallest do
/// not fit
std::optional<std::vector<size_t>> allocate_memory(std::span<const std::vector<MemoryPoint>> fronts,
                                                   int64_t capacity);

/// The same, exactly, by trying everything.
std::optional<std::vector<size_t>> allocate_memory_exactly(std::span<const std::vector<MemoryPoint>> fronts,
                                                           int64_t capacity);

}  // namespace tessera::chip
