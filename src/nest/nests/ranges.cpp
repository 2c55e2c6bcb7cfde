#include "nest/nests/ranges.h"

#include <algorithm>
#include <bit>

namespace tessera::nests {

Ranges::Ranges(const Kernel& kernel, const Nest& nest)
    : kernel_(kernel), nest_(nest), influence_(kernel, nest), frames_(kernel.operators.size()) {
    for (size_t op = 0; op < frames_.size(); ++op) {
        const uint64_t loops = influence_.on_frame(static_cast<int>(op), nest.around[op].size());
        frames_[op].resize(static_cast<size_t>(std::bit_width(loops)) + 1);
        counted_.emplace_back(kernel.operators[op].operands.size());
    }
}

void Ranges::enter(const Loop& loop, int64_t count) {
    trips_.push_back({&loop, 0, {}, count, 0});
}

void Ranges::set_trip(int64_t index, facts::Range range) {
    Trip& trip = trips_.back();
    trip.index = index;
    trip.range = range;
    trip.prefix = ++last_prefix_;
}

const facts::IterationBox* Ranges::frame(int op, size_t depth) {
    std::vector<Frame>& frames = frames_[static_cast<size_t>(op)];
    const size_t counted = std::min(depth, frames.size() - 1);
    Frame& frame = frames[counted];
    if (frame.prefix != prefix(counted)) {
        derive(op, counted, frame);
        frame.prefix = prefix(counted);
    }
    return frame.is_empty ? nullptr : &frame.ranges;
}

bool Ranges::region(int op, size_t depth, facts::IterationBox& ranges) {
    const facts::IterationBox* whole = frame(op, depth);
    if (!whole) return false;
    ranges = *whole;
    restrict_to_trips(op, depth, ranges);
    return true;
}

facts::Range Ranges::range(int op, size_t iterator, size_t depth) {
    const facts::IterationBox* whole = frame(op, depth);
    if (!whole) return {};
    facts::Range range = (*whole)[iterator];
    for (size_t i = 0; i < depth; ++i)
        if (trips_[i].loop->op == op && trips_[i].loop->iterator == iterator) range = trips_[i].range;
    return range;
}

bool Ranges::read_box(int op, size_t operand, const facts::IterationBox& ranges, Box& box) {
    const Operator& reader = kernel_.operators[static_cast<size_t>(op)];
    return reader.operands[operand].reads.find(reader.bound, ranges,
                                               counted_[static_cast<size_t>(op)][operand], box);
}

void Ranges::restrict_to_trips(int op, size_t depth, facts::IterationBox& ranges) const {
    for (size_t i = 0; i < depth; ++i)
        if (trips_[i].loop->op == op) ranges[trips_[i].loop->iterator] = trips_[i].range;
}

void Ranges::derive(int op, size_t depth, Frame& frame) {
    const Operator& maker = kernel_.operators[static_cast<size_t>(op)];
    frame.ranges = facts::whole_box(maker.bound);
    frame.is_empty = op != nest_.last;
    if (op == nest_.last) return;
    std::vector<bool> is_found(maker.iterators());
    facts::IterationBox region;
    Box box;
    for (const Result& result : maker.results)
        for (const int reader : kernel_.tensors[static_cast<size_t>(result.tensor)].readers) {
            const size_t counted =
                std::min(depth, nest_.shared[static_cast<size_t>(op)][static_cast<size_t>(reader)]);
            const size_t operand = *kernel_.operators[static_cast<size_t>(reader)].operand(result.tensor);
            if (!this->region(reader, counted, region) || !read_box(reader, operand, region, box)) continue;
            frame.is_empty = false;
            for (size_t a = 0; a < box.size(); ++a) {
                const ResultAxis axis = result.axes[a];
                facts::Range& range = frame.ranges[axis.iterator];
                const facts::Range needed{box[a].first - axis.constant, box[a].last - axis.constant};
                range = is_found[axis.iterator] ? facts::Range{std::min(range.first, needed.first),
                                                               std::max(range.last, needed.last)}
                                                : needed;
                is_found[axis.iterator] = true;
            }
        }
}

}  // namespace tessera::nests
