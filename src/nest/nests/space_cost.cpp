#include "nest/nests/space_cost.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"

// How often a tensor is moved, for `m:16@unit n:16 { k:8 { c } e }` of C = A B, E = C D:
//
//     tensor   loops    from the inside outwards
//     A[m, k]  m n k    k moves different boxes; if it has two trips or more, each trip of n moves them
//     again;
//                       m moves different ones
//     D[n, h]  m n      n moves different boxes, each unit (m) moves all of them
//     E[m, h]  m n      nothing below n uses it: stored once in a unit
//
// A box that no loop inside changes stays where it is, hence a loop of one trip lets everything out.

namespace tessera::nests {
namespace {

bool has(const std::vector<size_t>& all, size_t x) {
    return std::ranges::find(all, x) != all.end();
}

}  // namespace

StructureCost::StructureCost(const Space& space, const Structure& structure, Hoisting hoisting)
    : hoisting_(hoisting),
      units_(nests::units(space, structure)),
      outer_(space.batch),
      order_(space.batch),
      reduction_(space.reduction) {
    outer_.insert(outer_.end(), structure.order.begin(),
                  structure.order.begin() + static_cast<std::ptrdiff_t>(structure.depth));
    order_.insert(order_.end(), structure.order.begin(), structure.order.end());
    for (size_t op = 0; op < space.operators.size(); ++op) {
        for (const SpaceTensor& tensor : space.operators[op].tensors)
            add_tensor(space, space.operators[op], tensor);
        add_work(space, op);
    }
    const auto reduction = std::ranges::find(structure.order, space.reduction);
    for (const size_t x : space.unused)
        if (std::find(reduction, structure.order.end(), x) != structure.order.end())
            folded_again_.push_back(x);
    check_range(space);
}

bool StructureCost::is_unit(size_t iterator) const {
    return has(units_, iterator);
}

void StructureCost::add_tensor(const Space& space, const SpaceOperator& op, const SpaceTensor& tensor) {
    std::vector<size_t> loops = op.is_root ? order_ : outer_;
    // A kept tensor does not change in the loop over k.
    std::vector<size_t> restricting = loops;
    if (op.has_own_loop) {
        loops.push_back(space.k);
        if (tensor.kind != SpaceTensor::Kind::kKept) restricting.push_back(space.k);
    }
    Held held{.coefficient = tensor.element_bytes, .tiled = {}};
    for (const size_t x : tensor.axes) {
        if (!has(restricting, x))
            held.coefficient = checked_mul(held.coefficient, space.extents[x], space.kernel.where);
        else if (!has(space.batch, x))
            held.tiled.push_back(x);
    }
    held_.push_back(std::move(held));
    if (tensor.kind == SpaceTensor::Kind::kKept) return;
    moved_.push_back(moved(space, tensor, loops, false));
    if (tensor.kind == SpaceTensor::Kind::kWritten) moved_.push_back(moved(space, tensor, loops, true));
}

StructureCost::Moved StructureCost::moved(const Space& space, const SpaceTensor& tensor,
                                          const std::vector<size_t>& loops, bool is_continued) const {
    Moved moved{.bytes = checked_mul(tensor.elements, tensor.element_bytes, space.kernel.where), .steps = {}};
    for (size_t i = loops.size(); i-- > 0;) {
        const size_t x = loops[i];
        const bool is_used = has(tensor.axes, x);
        if (is_unit(x)) {
            if (!is_used) moved.steps.push_back({Action::kUnit, x});
        } else if (is_used) {
            moved.steps.push_back({Action::kUse, x});
        } else {
            moved.steps.push_back({is_continued && x == reduction_ ? Action::kContinue : Action::kRepeat, x});
        }
    }
    return moved;
}

void StructureCost::add_work(const Space& space, size_t op) {
    const std::string& where = space.kernel.where;
    const Operator& from = space.kernel.operators[op];
    const SpaceOperator& to = space.operators[op];
    int64_t all = 1;
    int64_t parallel = 1;  // of softmax_sum: iterators that the sum uses
    for (size_t x = 0; x < to.iterators.size(); ++x) {
        all = checked_mul(all, space.extents[to.iterators[x]], where);
        if (!from.is_reduction(x)) parallel = checked_mul(parallel, space.extents[to.iterators[x]], where);
    }
    if (from.monoid() == Monoid::kSoftmaxSum) {
        int64_t held = all;
        for (const size_t x : space.unused) held /= space.extents[x];
        computed_.push_back({checked_mul(held, from.work.held.flops, where), space.unused});
        computed_.push_back({checked_mul(all, from.work.point.flops, where), {}});
        return;
    }
    Computed computed{.flops = checked_add(checked_mul(all, from.work.point.flops, where),
                                           checked_mul(parallel, from.work.element.flops, where), where),
                      .again = {}};
    for (const size_t x : to.is_root ? order_ : outer_)
        if (!has(to.iterators, x)) computed.again.push_back(x);
    computed_.push_back(std::move(computed));
}

/// Bounds every sum and product of `at` and `footprint`: all loops in their smallest tiles, all inside of
/// others.
void StructureCost::check_range(const Space& space) const {
    const std::string& where = space.kernel.where;
    const auto most_trips = [&](size_t x) {
        const int64_t tile = has(space.batch, x) ? 1 : std::min(space.multiple, space.extents[x]);
        return (space.extents[x] - 1) / tile + 1;
    };
    int64_t total = 0;
    for (const Moved& moved : moved_) {
        int64_t bytes = moved.bytes;
        for (const Step& step : moved.steps)
            if (step.action != Action::kUse) bytes = checked_mul(bytes, most_trips(step.iterator), where);
        total = checked_add(total, bytes, where);
    }
    for (const Computed& computed : computed_) {
        int64_t flops = computed.flops;
        for (const size_t x : computed.again) flops = checked_mul(flops, most_trips(x), where);
        total = checked_add(total, flops, where);
    }
    int64_t units = 1;
    for (const size_t x : units_) units = checked_mul(units, most_trips(x), where);
    for (const Held& held : held_) {
        int64_t bytes = held.coefficient;
        for (const size_t x : held.tiled) bytes = checked_mul(bytes, space.extents[x], where);
        total = checked_add(total, bytes, where);
    }
}

int64_t StructureCost::times(const Moved& moved, std::span<const int64_t> trips) const {
    int64_t times = 1;
    bool is_inside = false;  // of a loop that changes the box
    for (const Step& step : moved.steps) {
        const int64_t count = trips[step.iterator];
        switch (step.action) {
            case Action::kUse:
                is_inside = is_inside || count >= 2 || hoisting_ == Hoisting::kUnusedLoops;
                break;
            case Action::kRepeat:
                if (is_inside) times *= count;
                break;
            case Action::kUnit:
                times *= count;
                break;
            case Action::kContinue:
                times *= is_inside ? count - 1 : 0;
                break;
        }
    }
    return times;
}

SpaceCost StructureCost::at(std::span<const int64_t> trips) const {
    SpaceCost cost;
    for (const Moved& moved : moved_) cost.bytes += moved.bytes * times(moved, trips);
    for (const Computed& computed : computed_) {
        int64_t flops = computed.flops;
        for (const size_t x : computed.again) flops *= trips[x];
        cost.flops += flops;
    }
    for (const size_t x : units_) cost.units *= trips[x];
    for (const size_t x : folded_again_)
        cost.is_legal = cost.is_legal && (trips[x] < 2 || trips[reduction_] < 2);
    return cost;
}

int64_t StructureCost::footprint(std::span<const int64_t> tiles) const {
    int64_t total = 0;
    for (const Held& held : held_) {
        int64_t bytes = held.coefficient;
        for (const size_t x : held.tiled) bytes *= tiles[x];
        total += bytes;
    }
    return total;
}

}  // namespace tessera::nests
