#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tessera {

/// Walks over the values of some iterators of a box in order, the last one fastest; the others stay at 0.
class BoxWalk {
public:
    BoxWalk(std::span<const int64_t> extents, std::vector<int> iterators)
        : extents_(extents), iterators_(std::move(iterators)) {}

    /// The number of points that it visits; the largest int64 if there are more.
    int64_t count() const {
        int64_t points = 1;
        for (int iterator : iterators_) {
            if (__builtin_mul_overflow(points, extents_[static_cast<size_t>(iterator)], &points)) {
                return std::numeric_limits<int64_t>::max();
            }
        }
        return points;
    }

    void start(std::vector<int64_t>& point) const { point.assign(extents_.size(), 0); }

    /// False after the last point.
    bool next(std::vector<int64_t>& point) const {
        for (size_t i = iterators_.size(); i > 0; --i) {
            const auto iterator = static_cast<size_t>(iterators_[i - 1]);
            if (++point[iterator] < extents_[iterator]) return true;
            point[iterator] = 0;
        }
        return false;
    }

private:
    std::span<const int64_t> extents_;
    std::vector<int> iterators_;
};

}  // namespace tessera
