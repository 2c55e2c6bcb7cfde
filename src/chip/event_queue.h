#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

namespace tessera::chip {

enum class EventKind : uint8_t {
    kHop,         ///< packet `a` asks for link `b`
    kBranch,      ///< packet `a` asks for all links behind hop `b` of its tree
    kLink,        ///< link `a` is free, or gives way, for packets that wait
    kPort,        ///< packets that were sent together ask for the ports of controller `a`
    kRelease,     ///< controller `a` has bytes a cycle to give
    kTileEnd,     ///< tile `a` is done
    kArrived,     ///< all that core `a` waits for in group `b` is there
    kPreloadEnd,  ///< all packets of the running preload are there, if this is still known (`a`)
};

struct Event {
    double time = 0;
    uint64_t number = 0;  ///< events of one moment come in the order in which they were made
    EventKind kind = EventKind::kHop;
    int32_t a = 0;
    int32_t b = 0;
};

/// Coming events, the earliest first. Times are cycles from 0.
///
/// A calendar: an event of one of the next cycles waits in the bucket of its cycle, and only those of the
/// present cycle are in order. A heap of all would be far larger than a cache. Source: Brown, "Calendar
/// Queues", 1988.
class EventQueue {
public:
    void push(double time, EventKind kind, int32_t a, int32_t b = 0) {
        const Event event{time, next_++, kind, a, b};
        ++size_;
        if (time == latest_ && (at_once_.empty() || at_once_.back().time == time))
            at_once_.push_back(event);
        else
            place(event);
    }
    bool is_empty() const { return size_ == 0; }
    /// @pre it is not empty
    double next_time() {
        settle();
        return at_once_is_next() ? at_once_.front().time : present_.top().time;
    }
    /// @pre it is not empty
    Event pop() {
        settle();
        const bool is_at_once = at_once_is_next();
        const Event event = is_at_once ? at_once_.front() : present_.top();
        if (is_at_once)
            at_once_.pop_front();
        else
            present_.pop();
        --size_;
        latest_ = event.time;
        return event;
    }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.time != b.time ? a.time > b.time : a.number > b.number;
        }
    };
    using Heap = std::priority_queue<Event, std::vector<Event>, Later>;
    static constexpr uint64_t kBuckets = 4096;

    std::vector<Event>& bucket(double cycle) { return buckets_[static_cast<uint64_t>(cycle) % kBuckets]; }
    void place(const Event& event) {
        const double cycle = std::floor(event.time);
        if (cycle <= cycle_) {
            present_.push(event);
        } else if (cycle < cycle_ + static_cast<double>(kBuckets)) {
            bucket(cycle).push_back(event);
            ++in_buckets_;
        } else {
            far_.push(event);
        }
    }
    bool at_once_is_next() const {
        return !at_once_.empty() && (present_.empty() || Later()(present_.top(), at_once_.front()));
    }
    /// Goes on to the next cycle that has events, unless the present one has some left.
    void settle() {
        while (present_.empty() && at_once_.empty()) {
            cycle_ = in_buckets_ > 0 ? cycle_ + 1 : std::floor(far_.top().time);
            std::vector<Event>& own = bucket(cycle_);
            in_buckets_ -= own.size();
            for (const Event& event : own) present_.push(event);
            own.clear();
            while (!far_.empty() && far_.top().time < cycle_ + static_cast<double>(kBuckets)) {
                place(far_.top());
                far_.pop();
            }
        }
    }

    double cycle_ = -1;                                  ///< the present one
    Heap present_;                                       ///< events of it, or before it
    std::vector<std::vector<Event>> buckets_{kBuckets};  ///< of the cycles behind it
    size_t in_buckets_ = 0;
    Heap far_;                   ///< events behind those
    std::deque<Event> at_once_;  ///< of one time, which was that of the latest event: they are in order
    double latest_ = -1;         ///< time of the event that was taken last
    uint64_t next_ = 0;
    size_t size_ = 0;
};

}  // namespace tessera::chip
