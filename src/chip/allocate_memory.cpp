#include "chip/allocate_memory.h"

#include <algorithm>

namespace tessera::chip {

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

void MemoryAllocation::clear() {
    bytes_ = 0;
    fronts_.clear();
    chosen_.clear();
    steps_ = {};
    least_taken_ = std::numeric_limits<double>::infinity();
}

void MemoryAllocation::add(const std::vector<MemoryPoint>& front) {
    const size_t added = fronts_.size();
    fronts_.push_back(&front);
    chosen_.push_back(0);
    bytes_ += front.front().bytes;
    // Steps of the new front that would have come before the last one that was taken.
    std::optional<Step> step = next_step(added);
    while (step && step->ratio > least_taken_) {
        bytes_ -= front[chosen_[added]].bytes - front[chosen_[added] + 1].bytes;
        ++chosen_[added];
        step = next_step(added);
    }
    if (step) steps_.push(*step);
}

bool MemoryAllocation::fit() {
    while (bytes_ > capacity_) {
        if (steps_.empty()) return false;
        const Step step = steps_.top();
        steps_.pop();
        take(step);
    }
    return true;
}

std::optional<MemoryAllocation::Step> MemoryAllocation::next_step(size_t front) const {
    const std::vector<MemoryPoint>& points = *fronts_[front];
    const size_t now = chosen_[front];
    if (now + 1 == points.size()) return std::nullopt;
    return Step{static_cast<double>(points[now].bytes - points[now + 1].bytes) /
                    (points[now + 1].time - points[now].time),
                front};
}

void MemoryAllocation::take(const Step& step) {
    const std::vector<MemoryPoint>& points = *fronts_[step.front];
    size_t& now = chosen_[step.front];
    bytes_ -= points[now].bytes - points[now + 1].bytes;
    ++now;
    least_taken_ = std::min(least_taken_, step.ratio);
    if (const auto next = next_step(step.front)) steps_.push(*next);
}

std::optional<std::vector<size_t>> allocate_memory(std::span<const std::vector<MemoryPoint>> fronts,
                                                   int64_t capacity) {
    MemoryAllocation allocation(capacity);
    for (const auto& front : fronts) allocation.add(front);
    if (!allocation.fit()) return std::nullopt;
    return allocation.chosen();
}

}  // namespace tessera::chip
