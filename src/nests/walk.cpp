#include "nests/walk.h"

#include <algorithm>

#include "facts/image.h"
#include "ir/checked_arithmetic.h"
#include "nests/places.h"
#include "nests/ranges.h"
#include "support/error.h"

// The walk is the definition, with one shortcut: a box is derived again only after a trip of a loop that can
// change it (Influence). For `m:16@unit { load B; k:8 { c } e }` it goes
//
//     unit (m 0): load B, run c (k 0), run c (k 1), run e, store what is written;  unit (m 1): ..

namespace tessera::nests {
namespace {

constexpr int64_t kStepsOfBox = 16;  ///< to remember one
constexpr int64_t kStepsOfPassage = 4;

class Walker {
public:
    Walker(const Kernel& kernel, const Nest& nest, const WalkOptions& options)
        : kernel_(kernel),
          nest_(nest),
          ranges_(kernel, nest),
          places_(kernel, nest, ranges_.influence()),
          steps_(options.steps),
          steps_left_(options.steps) {
        movement_.operators.resize(kernel.operators.size());
    }

    Movement run() {
        run_brace(0, 0);
        for (const Place& place : places_.all()) report(place);
        return std::move(movement_);
    }

private:
    const Operator& op_at(int op) const { return kernel_.operators[static_cast<size_t>(op)]; }
    size_t depth_of(int op) const { return nest_.around[static_cast<size_t>(op)].size(); }

    void charge(int64_t steps) {
        steps_left_ -= steps;
        if (steps_left_ < 0)
            throw Error(kernel_.where, "nest",
                        fmt::format("takes more than {} steps to walk through", steps_),
                        "make the tiles larger or the extents smaller");
    }

    // ---- control ----

    void run_brace(int number, size_t loop) {
        const Brace& brace = nest_.braces[static_cast<size_t>(number)];
        const bool is_unit = number == 0 && loop == nest_.units();
        if (is_unit) begin_unit();
        if (loop < brace.loops.size())
            run_loop(number, loop);
        else
            for (const Item& item : brace.items) {
                charge(1);
                if (item.kind == Item::Kind::kBrace)
                    run_brace(item.index, 0);
                else if (item.kind == Item::Kind::kRun)
                    execute(item.index);
                else
                    load(item.index);
            }
        if (is_unit)
            for (Place& place : places_.all()) place.buffer.end_unit();
    }

    void begin_unit() {
        ++movement_.units;
        for (Place& place : places_.all()) place.buffer.begin_unit();
    }

    void run_loop(int number, size_t at) {
        const Loop& loop = nest_.braces[static_cast<size_t>(number)].loops[at];
        const facts::Range whole = ranges_.range(loop.op, loop.iterator, ranges_.trips().size());
        if (whole.empty()) return;
        const int64_t count = (whole.size() - 1) / loop.size + 1;
        check_folds(loop, count);
        ranges_.enter(loop, count);
        for (int64_t i = 0; i < count; ++i) {
            charge(1);
            const int64_t first = whole.first + i * loop.size;
            const int64_t last = whole.last - first > loop.size ? first + loop.size : whole.last;
            ranges_.set_trip(i, {first, last});
            run_brace(number, at + 1);
        }
        ranges_.leave();
    }

    /// The maximum and the sum of softmax_sum do not use this iterator: each of its trips folds the same
    /// scores into them, and scales what an outer trip of a reduction has scaled.
    void check_folds(const Loop& loop, int64_t count) {
        const Operator& op = op_at(loop.op);
        if (op.monoid() != Monoid::kSoftmaxSum || count < 2 || op.is_reduction(loop.iterator) ||
            (op.results[0].iterators >> loop.iterator & 1) != 0)
            return;
        const bool is_inside = std::ranges::any_of(ranges_.trips(), [&](const Trip& trip) {
            return trip.loop->op == loop.op && op.is_reduction(trip.loop->iterator) && trip.count >= 2;
        });
        if (is_inside)
            movement_.wrong_numbers =
                fmt::format("{} folds into {} and {} again in each trip of {}", op.name(),
                            kernel_.tensors[static_cast<size_t>(op.results[0].tensor)].name,
                            kernel_.tensors[static_cast<size_t>(op.results[1].tensor)].name, loop.name);
    }

    // ---- boxes ----

    /// The number of the box at the place, derived again after a trip that can change it. `derive(box)` gives
    /// false for an empty one.
    template <class Derive>
    int box_at(Place& place, Derive&& derive) {
        const uint64_t prefix = ranges_.prefix(place.derive_depth);
        if (place.prefix != prefix) {
            place.prefix = prefix;
            bool is_new = false;
            place.box = derive(box_) ? place.buffer.number(box_, is_new) : -1;
            if (is_new) charge(kStepsOfBox);
        }
        if (place.box >= 0)
            charge(kStepsOfPassage * place.dependence.pass(ranges_, place.loops.size(), place.box));
        return place.box;
    }

    void load(int tensor) {
        Place& place = places_.load(tensor);
        place.buffer.read(
            box_at(place, [&](Box& box) { return box_of_readers(tensor, place.loops.size(), box); }));
    }

    /// Covers what all operators read that read the tensor.
    bool box_of_readers(int tensor, size_t depth, Box& box) {
        bool is_found = false;
        Box one;
        for (const int reader : kernel_.tensors[static_cast<size_t>(tensor)].readers) {
            if (!ranges_.region(reader, depth, region_)) continue;
            if (!ranges_.read_box(reader, *op_at(reader).operand(tensor), region_, one)) continue;
            for (size_t a = 0; is_found && a < box.size(); ++a)
                box[a] = {std::min(box[a].first, one[a].first), std::max(box[a].last, one[a].last)};
            if (!is_found) box = one;
            is_found = true;
        }
        return is_found;
    }

    // ---- execution ----

    void execute(int number) {
        const Operator& op = op_at(number);
        const size_t depth = depth_of(number);
        if (!ranges_.region(number, depth, region_)) return;
        bool begins = true;
        bool ends = true;
        for (size_t x = 0; x < region_.size(); ++x) {
            if (!op.is_reduction(x)) continue;
            begins = begins && region_[x].first == 0;
            ends = ends && region_[x].last == op.extents()[x];
        }
        for (size_t i = 0; i < op.operands.size(); ++i) read(number, i);
        for (size_t i = 0; i < op.results.size(); ++i) {
            Place& place = places_.result(number, i);
            const int box = box_at(place, [&](Box& box_here) {
                const facts::IterationBox& made =
                    number == nest_.last ? region_ : *ranges_.frame(number, depth);
                box_here.clear();
                for (const ResultAxis& axis : op.results[i].axes)
                    box_here.push_back({made[axis.iterator].first + axis.constant,
                                        made[axis.iterator].last + axis.constant});
                return true;
            });
            place.buffer.make(box, begins);
        }
        count(number, ends);
    }

    void read(int number, size_t position) {
        const auto tensor = static_cast<size_t>(op_at(number).operands[position].tensor);
        if (kernel_.tensors[tensor].maker >= 0) return check_held(number, position);
        if (nest_.load[tensor]) return;
        Place& place = places_.operand(number, position);
        place.buffer.read(
            box_at(place, [&](Box& box) { return ranges_.read_box(number, position, region_, box); }));
    }

    /// An operator may stand in loops of one that stands behind it. Where these have no trips it does not
    /// run, and what it makes may be read all the same.
    void check_held(int number, size_t position) {
        Need& need = places_.need(number, position);
        const uint64_t prefix = ranges_.prefix(need.derive_depth);
        if (need.prefix != prefix) {
            need.prefix = prefix;
            need.box.reset();
            if (ranges_.read_box(number, position, region_, box_)) need.box = box_;
        }
        const Buffer& buffer = places_.operand(number, position).buffer;
        if (need.box && !buffer.holds(*need.box))
            movement_.wrong_numbers =
                fmt::format("{} reads a part of {} that was not made", op_at(number).name(), buffer.name());
    }

    void count(int number, bool ends) {
        const Operator& op = op_at(number);
        OperatorCounts& counts = movement_.operators[static_cast<size_t>(number)];
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

    // ---- afterwards ----

    void report(const Place& place) {
        const Buffer& buffer = place.buffer;
        BufferCounts counts{.name = buffer.name(),
                            .tensor = buffer.tensor(),
                            .role = buffer.role(),
                            .loads = buffer.loads(),
                            .stores = buffer.stores(),
                            .reloads = buffer.reloads(),
                            .box_bytes = buffer.largest_box(),
                            .depends = {}};
        for (size_t i = 0; i < place.loops.size(); ++i)
            if ((place.dependence.found() >> i & 1) != 0)
                counts.depends.push_back(nest_.loop(place.loops[i]).name);
        movement_.buffers.push_back(std::move(counts));
        const auto t = static_cast<size_t>(buffer.tensor());
        if (nest_.visible[t] && !is_covered(kernel_.tensors[t].made, buffer.stored_boxes()))
            movement_.wrong_numbers =
                fmt::format("{} is visible, but not all of it is made", kernel_.tensors[t].name);
    }

    /// Whether every element lies in one of the boxes, all of which lie within `whole`.
    static bool is_covered(const Box& whole, const std::vector<Box>& boxes) {
        facts::ElementSet covered(whole.size());
        std::vector<facts::IntegerSet> product;
        for (const Box& box : boxes) {
            product.clear();
            for (const facts::Range& range : box) product.emplace_back(range);
            covered.add(product);
        }
        int64_t elements = 1;
        for (const facts::Range& range : whole) elements *= range.size();
        return covered.count() == elements;
    }

    const Kernel& kernel_;
    const Nest& nest_;
    Ranges ranges_;
    Places places_;
    int64_t steps_;
    int64_t steps_left_;
    Movement movement_;
    facts::IterationBox region_;
    Box box_;
};

}  // namespace

Movement walk(const Kernel& kernel, const Nest& nest, const WalkOptions& options) {
    return Walker(kernel, nest, options).run();
}

}  // namespace tessera::nests
