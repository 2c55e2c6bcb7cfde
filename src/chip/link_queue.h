#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>

#include "chip/device_program.h"

namespace tessera::chip {

/// A packet that asks for a link, or the rest of one that has given way.
struct LinkRequest {
    int32_t packet = -1;  ///< -1: the rest of one
    int32_t hop = 0;      ///< of a packet
    double bytes = 0;
    TransferKind kind = TransferKind::kPreload;
    // For the holder of the link.
    bool can_give_way = false;
    size_t item = 0;      ///< of the packet
    int32_t record = -1;  ///< likewise
    int32_t place = 0;    ///< of the link in the record
    int32_t piece = -1;   ///< of a rest: its place among the pieces
};

/// A link between nodes, and its queue. Packets of an execute go first: the SRAM waits for them, but the HBM
/// does not wait for those of a preload. A packet of a preload on its last link gives way to them after each
/// `kUnit` bytes; its rest comes before other preloads. With whole packets alone, a sixteenth of a preload,
/// short executes would wait for longer than they take.
class LinkQueue {
public:
    static constexpr double kUnit = 256;

    double free() const { return free_; }
    bool has_waiting() const { return !executes_.empty() || !preloads_.empty(); }
    bool is_free(double now) const { return free_ <= now && !has_waiting(); }
    /// The packet that holds the link, and the begin of that.
    const LinkRequest& holder() const { return holder_; }
    double begin() const { return begin_; }

    void hold(const LinkRequest& request, double begin, double until) {
        holder_ = request;
        begin_ = begin;
        free_ = until;
        gives_way_ = until;
    }
    /// Queues it behind others of its kind. @return the time to serve the link again; below 0: none
    double wait(const LinkRequest& request, double now) {
        const bool is_execute = request.kind != TransferKind::kPreload;
        const bool is_first = !has_waiting();
        (is_execute ? executes_ : preloads_).push_back(request);
        if (is_execute && gives_way_ == free_ && holder_.can_give_way && free_ > now) {
            const double unit = kUnit * (free_ - begin_) / holder_.bytes;
            const double sent = std::max(1.0, std::ceil((now - begin_) / unit));
            if (begin_ + sent * unit < free_) return gives_way_ = begin_ + sent * unit;
        }
        return is_first ? free_ : -1;
    }
    /// True if the holder gives way at this moment.
    bool gives_way(double now) const { return now == gives_way_ && now < free_; }
    /// Makes the holder give way. @return the rest of it
    LinkRequest give_way(double now) {
        LinkRequest rest = holder_;
        const double sent = std::round((now - begin_) / (free_ - begin_) * holder_.bytes);
        rest.packet = -1;
        rest.bytes = holder_.bytes - sent;
        free_ = now;
        preloads_.push_front(rest);
        return rest;
    }
    /// @pre a request waits
    LinkRequest next() {
        std::deque<LinkRequest>& side = executes_.empty() ? preloads_ : executes_;
        const LinkRequest request = side.front();
        side.pop_front();
        return request;
    }

private:
    LinkRequest holder_;
    double begin_ = 0, free_ = 0;
    double gives_way_ = 0;  ///< not before it is free: none has asked for it
    std::deque<LinkRequest> executes_, preloads_;
};

}  // namespace tessera::chip
