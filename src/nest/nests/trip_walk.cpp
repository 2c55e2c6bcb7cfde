#include "nest/nests/trip_walk.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "support/error.h"

namespace tessera::nests {

TripWalk::TripWalk(const Kernel& kernel, const Nest& nest, const WalkOptions& options)
    : kernel_(kernel),
      nest_(nest),
      ranges_(kernel, nest),
      ranges_of_all_units_(kernel, nest),
      operators_(kernel.operators.size()),
      steps_(options.steps),
      steps_left_(options.steps) {}

void TripWalk::charge(int64_t steps) {
    steps_left_ -= steps;
    if (steps_left_ < 0)
        throw Error(kernel_.where, "nest", fmt::format("takes more than {} steps to walk through", steps_),
                    "make the tiles larger or the extents smaller");
}

void TripWalk::run_brace(int number, size_t loop) {
    const Brace& brace = nest_.braces[static_cast<size_t>(number)];
    const bool is_unit = number == 0 && loop == nest_.units();
    if (is_unit) {
        ++units_;
        begin_unit();
    }
    if (loop < brace.loops.size())
        run_loop(number, loop);
    else
        for (const Item& item : brace.items) {
            charge(1);
            if (item.kind == Item::Kind::kBrace)
                run_brace(item.index, 0);
            else if (item.kind == Item::Kind::kRun)
                run_operator(item.index);
            else
                pass(nest_.moves[static_cast<size_t>(item.index)]);
        }
    if (is_unit) end_unit();
}

void TripWalk::run_loop(int number, size_t at) {
    const Loop& loop = nest_.braces[static_cast<size_t>(number)].loops[at];
    const facts::Range whole = ranges_.range(loop.op, loop.iterator, ranges_.trips().size());
    if (whole.empty()) return;
    const int64_t count = (whole.size() - 1) / loop.size + 1;
    check_folds(loop, count);
    ranges_.enter(loop, count);
    ranges_of_all_units_.enter(loop, count);
    if (loop.is_unit) ranges_of_all_units_.set_trip(0, whole);
    for (int64_t i = 0; i < count; ++i) {
        charge(1);
        const int64_t first = whole.first + i * loop.size;
        const int64_t last = whole.last - first > loop.size ? first + loop.size : whole.last;
        ranges_.set_trip(i, {first, last});
        if (!loop.is_unit) ranges_of_all_units_.set_trip(i, {first, last});
        run_brace(number, at + 1);
    }
    ranges_.leave();
    ranges_of_all_units_.leave();
}

/// The maximum and the sum of softmax_sum do not use this iterator: each of its trips folds the same scores
/// into them, and scales what an outer trip of a reduction has scaled.
void TripWalk::check_folds(const Loop& loop, int64_t count) {
    const Operator& op = op_at(loop.op);
    if (op.monoid() != Monoid::kSoftmaxSum || count < 2 || op.is_reduction(loop.iterator) ||
        (op.results[0].iterators >> loop.iterator & 1) != 0)
        return;
    const bool is_inside = std::ranges::any_of(ranges_.trips(), [&](const Trip& trip) {
        return trip.loop->op == loop.op && op.is_reduction(trip.loop->iterator) && trip.count >= 2;
    });
    if (is_inside)
        folded_twice_ =
            fmt::format("{} folds into {} and {} again in each trip of {}", op.name(),
                        kernel_.tensors[static_cast<size_t>(op.results[0].tensor)].name,
                        kernel_.tensors[static_cast<size_t>(op.results[1].tensor)].name, loop.name);
}

bool TripWalk::box_of_readers(Ranges& ranges, int tensor, size_t depth, Box& box) {
    bool is_found = false;
    for (const int reader : kernel_.tensors[static_cast<size_t>(tensor)].readers) {
        if (!ranges.region(reader, depth, reader_region_)) continue;
        if (!ranges.read_box(reader, *op_at(reader).operand(tensor), reader_region_, reader_box_)) continue;
        for (size_t a = 0; is_found && a < box.size(); ++a)
            box[a] = {std::min(box[a].first, reader_box_[a].first),
                      std::max(box[a].last, reader_box_[a].last)};
        if (!is_found) box = reader_box_;
        is_found = true;
    }
    return is_found;
}

void TripWalk::box_of_result(const Result& result, const facts::IterationBox& ranges, Box& box) {
    box.clear();
    for (const ResultAxis& axis : result.axes)
        box.push_back(
            {ranges[axis.iterator].first + axis.constant, ranges[axis.iterator].last + axis.constant});
}

void TripWalk::run_operator(int number) {
    const Operator& op = op_at(number);
    if (!ranges_.region(number, depth_of(number), region_)) return;
    bool begins = true;
    bool ends = true;
    for (size_t x = 0; x < region_.size(); ++x) {
        if (!op.is_reduction(x)) continue;
        begins = begins && region_[x].first == 0;
        ends = ends && region_[x].last == op.extents()[x];
    }
    count(number, ends);
    execute(number, begins);
}

void TripWalk::count(int number, bool ends) {
    const Operator& op = op_at(number);
    OperatorCounts& counts = operators_[static_cast<size_t>(number)];
    int64_t points = 1;
    int64_t held = 1;
    int64_t parallel = 1;
    for (size_t x = 0; x < region_.size(); ++x) {
        points *= region_[x].size();  // at most the iterations of the operator, which fit
        if (op.is_reduction(x) || (op.results[op.results.size() > 1 ? 1 : 0].iterators >> x & 1) != 0)
            held *= region_[x].size();
        if (!op.is_reduction(x)) parallel *= region_[x].size();
    }
    ++counts.executions;
    counts.points = checked_add(counts.points, points, kernel_.where);
    if (op.monoid() == Monoid::kSoftmaxSum)
        counts.held_points = checked_add(counts.held_points, held, kernel_.where);
    if (ends) counts.elements_ended = checked_add(counts.elements_ended, parallel, kernel_.where);
}

}  // namespace tessera::nests
