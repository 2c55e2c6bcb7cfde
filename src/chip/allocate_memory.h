#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
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

/// The inter-operator tradeoff of paper 003, 4.3: every front begins with its fastest point, and the front
/// whose next point frees the most bytes for each added cycle goes on to it, until all bytes fit. Fronts may
/// be added to a finished allocation: the steps taken so far are those that it would take anyway.
class MemoryAllocation {
public:
    explicit MemoryAllocation(int64_t capacity) : capacity_(capacity) {}

    /// Begins anew, without fronts.
    void clear();
    /// @pre the front is not empty, and lives as long as the allocation
    void add(const std::vector<MemoryPoint>& front);
    /// Goes on until all bytes fit. @return false if even the smallest points do not
    bool fit();

    int64_t capacity() const { return capacity_; }
    size_t size() const { return fronts_.size(); }
    const std::vector<size_t>& chosen() const { return chosen_; }  ///< index of the point of each front
    const MemoryPoint& point(size_t front) const { return (*fronts_[front])[chosen_[front]]; }

private:
    struct Step {
        double ratio;  ///< bytes freed for each added cycle
        size_t front;
        bool operator<(const Step& other) const {
            return ratio != other.ratio ? ratio < other.ratio : front > other.front;
        }
    };
    std::optional<Step> next_step(size_t front) const;
    void take(const Step& step);

    int64_t capacity_;
    int64_t bytes_ = 0;
    std::vector<const std::vector<MemoryPoint>*> fronts_;
    std::vector<size_t> chosen_;
    std::priority_queue<Step> steps_;
    double least_taken_ = std::numeric_limits<double>::infinity();  ///< ratio
};

/// A point of every front so that all bytes together are at most `capacity`, by MemoryAllocation. @return
/// none if even the smallest do not fit
std::optional<std::vector<size_t>> allocate_memory(std::span<const std::vector<MemoryPoint>> fronts,
                                                   int64_t capacity);

}  // namespace tessera::chip
