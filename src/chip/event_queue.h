#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace tessera::chip {

enum class EventKind : uint8_t {
    kHop,        ///< packet `a` asks for its hop `b`
    kPacketEnd,  ///< packet `a` has arrived
    kRelease,    ///< controller `a` has bytes a cycle to give
    kTileEnd,    ///< tile `a` is done
};

struct Event {
    double time = 0;
    uint64_t number = 0;  ///< events of one moment come in the order in which they were made
    EventKind kind = EventKind::kHop;
    int32_t a = 0;
    int32_t b = 0;
};

/// Coming events, the earliest first.
class EventQueue {
public:
    void push(double time, EventKind kind, int32_t a, int32_t b = 0) {
        events_.push({time, next_++, kind, a, b});
    }
    bool is_empty() const { return events_.empty(); }
    double next_time() const { return events_.top().time; }
    Event pop() {
        const Event event = events_.top();
        events_.pop();
        return event;
    }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.time != b.time ? a.time > b.time : a.number > b.number;
        }
    };
    std::priority_queue<Event, std::vector<Event>, Later> events_;
    uint64_t next_ = 0;
};

}  // namespace tessera::chip
