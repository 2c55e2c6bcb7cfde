#include "chip/allocate_memory.h"

#include <algorithm>
#include <limits>

namespace tessera::chip {
namespace {

/// Depth-first over the fronts; a branch ends where its time or its bytes can no more be useful.
class AllocationSearch {
public:
    AllocationSearch(std::span<const std::vector<MemoryPoint>> fronts, int64_t capacity)
        : fronts_(fronts), left_(capacity), chosen_(fronts.size()) {
        for (const auto& front : fronts) least_bytes_ += front.back().bytes;
    }

    std::optional<std::vector<size_t>> run() {
        choose(0, 0);
        if (best_time_ == std::numeric_limits<double>::infinity()) return std::nullopt;
        return best_;
    }

private:
    void choose(size_t front, double time) {
        if (time >= best_time_ || least_bytes_ > left_) return;
        if (front == fronts_.size()) {
            best_time_ = time;
            best_ = chosen_;
            return;
        }
        least_bytes_ -= fronts_[front].back().bytes;
        for (size_t p = 0; p < fronts_[front].size(); ++p) {
            chosen_[front] = p;
            left_ -= fronts_[front][p].bytes;
            choose(front + 1, time + fronts_[front][p].time);
            left_ += fronts_[front][p].bytes;
        }
        least_bytes_ += fronts_[front].back().bytes;
    }

    std::span<const std::vector<MemoryPoint>> fronts_;
    int64_t left_;
    int64_t least_bytes_ = 0;  ///< of the fronts that are not chosen yet
    std::vector<size_t> chosen_, best_;
    double best_time_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<MemoryPoint> memory_front(std::vector<MemoryPoint> points) {
    std::sort(points.begin(), points.end(), [](const MemoryPoint& a, const MemoryPoint& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.time < b.time;
    });
    std::vector<MemoryPoint> front;
    for (const MemoryPoint& point : points)
        if (front.empty() || point.time < front.back().time) front.push_back(point);
    std::reverse(front.begin(), front.end());
    return front;
}

std::optional<std::vector<size_t>> allocate_memory(std::span<const std::vector<MemoryPoint>> fronts,
                                                   int64_t capacity) {
    std::vector<size_t> chosen(fronts.size(), 0);
    int64_t bytes = 0;
    for (const auto& front : fronts) bytes += front.front().bytes;
    while (bytes > capacity) {
        size_t best = fronts.size();
        double best_ratio = -1;
        for (size_t f = 0; f < fronts.size(); ++f) {
            if (chosen[f] + 1 == fronts[f].size()) continue;
            const MemoryPoint &now = fronts[f][chosen[f]], &next = fronts[f][chosen[f] + 1];
            const double ratio = static_cast<double>(now.bytes - next.bytes) / (next.time - now.time);
            if (ratio <= best_ratio) continue;
            best = f;
            best_ratio = ratio;
        }
        if (best == fronts.size()) return std::nullopt;
        bytes -= fronts[best][chosen[best]].bytes - fronts[best][chosen[best] + 1].bytes;
        ++chosen[best];
    }
    return chosen;
}

std::optional<std::vector<size_t>> allocate_memory_exactly(std::span<const std::vector<MemoryPoint>> fronts,
                                                           int64_t capacity) {
    return AllocationSearch(fronts, capacity).run();
}

}  // namespace tessera::chip
