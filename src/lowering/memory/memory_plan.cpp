// Best fit: buffers in some order; each goes into the smallest gap, between those placed before that are
// alive at the same time, that holds it, or behind them.
//
//        kernels ->                        gap of the right size between a and c while b is alive:
//   a  ############                        the next buffer of that size goes there
//   b        ::::::::
//   c     ###############
#include "lowering/memory/memory_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "support/error.h"
#include "support/limits.h"

namespace tessera::memory {
namespace {

bool meet(const LiveBuffer& a, const LiveBuffer& b) {
    return a.first < b.last && b.first < a.last;
}

struct Placed {
    const LiveBuffer* buffer;
    int64_t offset;
};

int64_t best_gap(const LiveBuffer& buffer, std::vector<Placed> neighbours) {
    std::sort(neighbours.begin(), neighbours.end(),
              [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
    int64_t free_from = 0, best = -1, best_size = 0;
    for (const Placed& n : neighbours) {
        const int64_t gap = n.offset - free_from;
        if (gap >= rounded_to_lines(buffer.bytes) && (best < 0 || gap < best_size)) {
            best = free_from;
            best_size = gap;
        }
        free_from = std::max(free_from, n.offset + rounded_to_lines(n.buffer->bytes));
    }
    return best >= 0 ? best : free_from;
}

MemoryPlan place(const std::vector<const LiveBuffer*>& order) {
    MemoryPlan plan;
    std::vector<Placed> placed;
    for (const LiveBuffer* buffer : order) {
        std::vector<Placed> neighbours;
        std::copy_if(placed.begin(), placed.end(), std::back_inserter(neighbours),
                     [&](const Placed& p) { return meet(*p.buffer, *buffer); });
        const int64_t offset = best_gap(*buffer, std::move(neighbours));
        placed.push_back({buffer, offset});
        plan.offsets[buffer->value] = offset;
        plan.peak = std::max(plan.peak, offset + rounded_to_lines(buffer->bytes));
    }
    return plan;
}

int64_t max_live(const std::vector<LiveBuffer>& buffers) {
    int64_t most = 0;
    for (const LiveBuffer& at : buffers) {
        int64_t live = 0;
        for (const LiveBuffer& b : buffers)
            live += b.first <= at.first && at.first < b.last ? rounded_to_lines(b.bytes) : 0;
        most = std::max(most, live);
    }
    return most;
}

}  // namespace

MemoryPlan plan_memory(const std::vector<LiveBuffer>& buffers) {
    std::vector<const LiveBuffer*> order;
    for (const LiveBuffer& b : buffers) order.push_back(&b);
    const auto length = [](const LiveBuffer* b) { return b->last - b->first; };
    using Before = std::function<bool(const LiveBuffer*, const LiveBuffer*)>;
    const Before orders[] = {
        [](const auto* a, const auto* b) { return a->bytes > b->bytes; },
        [&](const auto* a, const auto* b) { return length(a) > length(b); },
        [&](const auto* a, const auto* b) { return a->bytes * length(a) > b->bytes * length(b); },
        [](const auto* a, const auto* b) { return a->first < b->first; },
    };
    MemoryPlan best;
    best.peak = -1;
    for (const Before& before : orders) {
        std::vector<const LiveBuffer*> sorted = order;
        std::stable_sort(sorted.begin(), sorted.end(), before);
        MemoryPlan plan = place(sorted);
        if (best.peak < 0 || plan.peak < best.peak) best = std::move(plan);
    }
    best.max_live = max_live(buffers);
    return best;
}

std::vector<std::string> check(const std::vector<LiveBuffer>& buffers,
                               const std::map<std::string, int64_t>& offsets, int64_t arena_bytes) {
    std::vector<std::string> violations;
    for (size_t i = 0; i < buffers.size(); ++i) {
        const LiveBuffer& a = buffers[i];
        const auto at = offsets.find(a.value);
        if (at == offsets.end()) {
            violations.push_back(fmt::format("{} has no offset", a.value));
            continue;
        }
        if (at->second < 0 || at->second % kLineBytes != 0 || at->second > arena_bytes - a.bytes) {
            violations.push_back(
                fmt::format("{} at {} with {} bytes does not lie on a line inside the arena of {} bytes",
                            a.value, at->second, a.bytes, arena_bytes));
        }
        for (size_t j = 0; j < i; ++j) {
            const LiveBuffer& b = buffers[j];
            const auto other = offsets.find(b.value);
            if (other == offsets.end()) continue;
            const bool same_time = std::max(a.first, b.first) < std::min(a.last, b.last);
            const bool same_place = at->second <= other->second ? other->second - at->second < a.bytes
                                                                : at->second - other->second < b.bytes;
            if (same_time && same_place)
                violations.push_back(fmt::format("{} and {} overlap while both are alive", b.value, a.value));
        }
    }
    return violations;
}

}  // namespace tessera::memory
