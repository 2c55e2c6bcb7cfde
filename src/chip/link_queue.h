#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace tessera::chip {

/// A packet of a preload that asks for a link, or the rest of one that has given way.
struct LinkRequest {
    int32_t packet = -1;  ///< -1: the rest of one
    int32_t hop = 0;      ///< of a packet
    double bytes = 0;
    size_t item = 0;      ///< of the packet
    int32_t record = -1;  ///< likewise
    int32_t place = 0;    ///< of the link in the record
    int32_t piece = -1;   ///< of a rest: its place among the pieces
};

/// A link between nodes, and its queue. Packets of an execute go first: the SRAM waits for them, but the HBM
/// does not wait for those of a preload. A packet of a preload on its last link gives way to them after each
/// `kUnit` bytes; its rest comes before other preloads. With whole packets alone, a sixteenth of a preload,
/// short executes would wait for longer than they take.
///
/// Nothing comes before an execute's packet but those of executes that have asked earlier, and what holds the
/// link then. So it has its time at once, and only preloads wait.
class LinkQueue {
public:
    static constexpr double kUnit = 256;

    /// The end of all that has its time.
    double free() const { return free_; }
    bool has_waiting() const { return preloads_ && preloads_->first < preloads_->waiting.size(); }
    bool is_free(double now) const { return free_ <= now && !has_waiting(); }

    /// Gives the link to a packet that nothing interrupts.
    void take(double until) {
        free_ = until;
        can_give_way_ = false;
    }
    /// Gives it to a packet of a preload on its last link. @pre it is free
    void hold(const LinkRequest& request, double begin, double until) {
        Preloads& own = preloads();
        own.holder = request;
        own.begin = begin;
        free_ = until;
        can_give_way_ = true;
    }
    bool may_give_way(double now) const { return can_give_way_ && now < free_; }
    /// The packet that may give way, and the begin of its time.
    const LinkRequest& holder() const { return preloads_->holder; }
    double begin() const { return preloads_->begin; }
    /// The time at which the holder gives way to a packet that asks now. @pre it may give way
    double way(double now) const {
        const double unit = kUnit * (free_ - begin()) / holder().bytes;
        return std::min(free_, begin() + std::max(1.0, std::ceil((now - begin()) / unit)) * unit);
    }
    /// Makes the holder give way at that time. @return the rest of it
    LinkRequest give_way(double then) {
        LinkRequest rest = holder();
        const double sent = std::round((then - begin()) / (free_ - begin()) * rest.bytes);
        rest.packet = -1;
        rest.bytes -= sent;
        free_ = then;
        can_give_way_ = false;
        preloads_->push_front(rest);
        return rest;
    }

    void wait(const LinkRequest& request) { preloads().waiting.push_back(request); }
    /// @pre a request waits
    LinkRequest next() {
        std::vector<LinkRequest>& waiting = preloads_->waiting;
        const LinkRequest request = waiting[preloads_->first++];
        if (preloads_->first == waiting.size()) {
            waiting.clear();
            preloads_->first = 0;
        }
        return request;
    }
    /// True if an event is needed when it is free, for those that wait; it is made then.
    bool needs_call() {
        if (!has_waiting() || preloads_->called <= free_) return false;
        preloads_->called = free_;
        return true;
    }
    void was_called(double now) {
        if (preloads_ && preloads_->called <= now) preloads_->called = kNever;
    }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    struct Preloads {
        LinkRequest holder;
        double begin = 0;
        std::vector<LinkRequest> waiting;
        size_t first = 0;        ///< of those that wait
        double called = kNever;  ///< time of the earliest event

        void push_front(const LinkRequest& request) {
            if (first > 0)
                waiting[--first] = request;
            else
                waiting.insert(waiting.begin(), request);
        }
    };
    Preloads& preloads() {
        if (!preloads_) preloads_ = std::make_unique<Preloads>();
        return *preloads_;
    }

    // A transfer to all cores looks at all links, so these are small.
    double free_ = 0;
    bool can_give_way_ = false;
    std::unique_ptr<Preloads> preloads_;
};

}  // namespace tessera::chip
