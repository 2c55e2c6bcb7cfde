#include "nest/nests/walk.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"
#include "ir/facts/image.h"
#include "nest/nests/places.h"
#include "nest/nests/ranges.h"
#include "support/error.h"

// The walk is the definition, with one shortcut: a box is derived again only after a trip of a loop that can
// change it (Influence).

namespace tessera::nests {
namespace {

constexpr int64_t kStepsOfPassage = 4;

class Walker : private TripWalk {
public:
    Walker(const Kernel& kernel, const Nest& nest, const WalkOptions& options)
        : TripWalk(kernel, nest, options), places_(kernel, nest, ranges_.influence()) {}

    Movement run() {
        TripWalk::run();
        movement_.units = units_;
        movement_.operators = std::move(operators_);
        if (folded_twice_) movement_.wrong_numbers = std::move(folded_twice_);
        for (const Place& place : places_.all()) report(place);
        return std::move(movement_);
    }

private:
    void begin_unit() override {
        for (Place& place : places_.all()) place.buffer.begin_unit();
    }

    void end_unit() override {
        for (Place& place : places_.all()) place.buffer.end_unit();
    }

    // ---- boxes ----

    /// The number of the box at the place, derived again after a trip that can change it. `derive(box)` gives
    /// false for an empty one.
    template <class Derive>
    int box_at(Place& place, Derive&& derive) {
        const int number = place.needed.at(ranges_, [&] {
            if (!derive(box_)) return -1;
            bool is_new = false;
            const int derived = place.buffer.boxes().number(box_, is_new);
            if (is_new) charge(kStepsOfBox);
            return derived;
        });
        if (number >= 0) charge(kStepsOfPassage * place.dependence.pass(ranges_, place.loops.size(), number));
        return number;
    }

    void pass(const Move& move) override {
        Place& place = places_.load(move.tensor);
        place.buffer.read(
            box_at(place, [&](Box& box) { return box_of_readers(ranges_, move.tensor, move.depth, box); }));
    }

    // ---- execution ----

    void execute(int number, bool begins) override {
        const Operator& op = op_at(number);
        for (size_t i = 0; i < op.operands.size(); ++i) read(number, i);
        for (size_t i = 0; i < op.results.size(); ++i) {
            Place& place = places_.result(number, i);
            const int box = box_at(place, [&](Box& box_here) {
                box_of_result(op.results[i],
                              number == nest_.last ? region_ : *ranges_.frame(number, depth_of(number)),
                              box_here);
                return true;
            });
            place.buffer.make(box, begins);
        }
    }

    void read(int number, size_t position) {
        const int tensor = op_at(number).operands[position].tensor;
        if (kernel_.tensors[static_cast<size_t>(tensor)].maker >= 0) return check_held(number, position);
        if (nest_.find(MoveKind::kLoad, tensor, 1)) return;
        Place& place = places_.operand(number, position);
        place.buffer.read(
            box_at(place, [&](Box& box) { return ranges_.read_box(number, position, region_, box); }));
    }

    /// An operator may stand in loops of one that stands behind it. Where these have no trips it does not
    /// run, and what it makes may be read all the same.
    void check_held(int number, size_t position) {
        Need& need = places_.need(number, position);
        need.needed.at(ranges_, [&] {
            need.box.reset();
            if (ranges_.read_box(number, position, region_, box_)) need.box = box_;
            return 0;
        });
        const Buffer& buffer = places_.operand(number, position).buffer;
        if (need.box && !buffer.holds(*need.box))
            movement_.wrong_numbers =
                fmt::format("{} reads a part of {} that was not made", op_at(number).name(), buffer.name());
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
                            .box_bytes = buffer.boxes().largest(),
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

    /// True if the boxes, all of which lie within `whole`, cover it.
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

    Places places_;
    Movement movement_;
    Box box_;
};

}  // namespace

Movement walk(const Kernel& kernel, const Nest& nest, const WalkOptions& options) {
    return Walker(kernel, nest, options).run();
}

}  // namespace tessera::nests
