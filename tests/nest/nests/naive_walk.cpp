#include "nest/nests/naive_walk.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/box_walk.h"
#include "ir/integer_value.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

using Ranges = facts::IterationBox;

int64_t size_of(const Ranges& ranges) {
    int64_t size = 1;
    for (const facts::Range& range : ranges) size *= range.size();
    return size;
}

void cover(std::optional<Box>& box, const Box& by) {
    if (!box) {
        box = by;
        return;
    }
    for (size_t a = 0; a < by.size(); ++a)
        (*box)[a] = {std::min((*box)[a].first, by[a].first), std::max((*box)[a].last, by[a].last)};
}

struct NaiveTrip {
    const Loop* loop;
    int64_t index;
    facts::Range range;
    int64_t count;
};

struct NaiveBuffer {
    BufferCounts counts;
    std::optional<Box> held;
    std::set<Box> stored;      ///< in this unit
    std::set<Box> all_stored;  ///< in any
    std::map<std::vector<int64_t>, Box> seen;
    std::vector<std::string> loops;
};

class NaiveWalk {
public:
    NaiveWalk(const Kernel& kernel, const Nest& nest) : kernel_(kernel), nest_(nest) {
        movement_.operators.resize(kernel.operators.size());
        for (const Operator& op : kernel.operators) {
            for (const Operand& operand : op.operands)
                if (is_outside(operand.tensor))
                    declare(read_name(op, operand.tensor), operand.tensor, BufferRole::kRead);
            for (const Result& result : op.results) {
                const bool is_written = &op == &kernel.operators[static_cast<size_t>(nest.last)] ||
                                        nest.visible[static_cast<size_t>(result.tensor)];
                declare(tensor_at(result.tensor).name, result.tensor,
                        is_written ? BufferRole::kWritten : BufferRole::kKept);
            }
        }
    }

    Movement run() {
        brace(0, 0);
        for (NaiveBuffer& buffer : buffers_) finish(buffer);
        return std::move(movement_);
    }

private:
    const Tensor& tensor_at(int tensor) const { return kernel_.tensors[static_cast<size_t>(tensor)]; }
    const Operator& op_at(int op) const { return kernel_.operators[static_cast<size_t>(op)]; }
    bool is_outside(int tensor) const { return tensor_at(tensor).maker < 0; }

    std::string read_name(const Operator& op, int tensor) const {
        const std::string& name = tensor_at(tensor).name;
        return nest_.find(MoveKind::kLoad, tensor, 1) ? name : name + " for " + op.name();
    }

    void declare(const std::string& name, int tensor, BufferRole role) {
        for (const NaiveBuffer& buffer : buffers_)
            if (buffer.counts.name == name) return;
        buffers_.emplace_back();
        buffers_.back().counts.name = name;
        buffers_.back().counts.tensor = tensor;
        buffers_.back().counts.role = role;
    }

    NaiveBuffer& buffer_named(const std::string& name) {
        return *std::ranges::find_if(buffers_, [&](const NaiveBuffer& b) { return b.counts.name == name; });
    }

    using Trips = std::vector<NaiveTrip>;

    std::optional<Ranges> frame(int op, const Trips& trips) const {
        Ranges ranges = facts::whole_box(op_at(op).bound);
        if (op == nest_.last) return ranges;
        std::map<size_t, facts::Range> found;
        bool is_needed = false;
        for (const Result& result : op_at(op).results)
            for (const int reader : tensor_at(result.tensor).readers) {
                Trips both = trips;
                const size_t shared = nest_.shared[static_cast<size_t>(op)][static_cast<size_t>(reader)];
                both.resize(std::min(both.size(), shared));
                const auto region_of_reader = region(reader, both);
                if (!region_of_reader) continue;
                const auto box = naive_read_box(kernel_, reader, result.tensor, *region_of_reader);
                if (!box) continue;
                is_needed = true;
                for (size_t a = 0; a < box->size(); ++a) {
                    const ResultAxis& axis = result.axes[a];
                    const facts::Range needed{(*box)[a].first - axis.constant,
                                              (*box)[a].last - axis.constant};
                    const auto [place, is_new] = found.try_emplace(axis.iterator, needed);
                    if (!is_new)
                        place->second = {std::min(place->second.first, needed.first),
                                         std::max(place->second.last, needed.last)};
                }
            }
        for (const auto& [iterator, range] : found) ranges[iterator] = range;
        return is_needed ? std::optional(ranges) : std::nullopt;
    }

    std::optional<Ranges> region(int op, const Trips& trips) const {
        std::optional<Ranges> ranges = frame(op, trips);
        for (const NaiveTrip& trip : trips)
            if (ranges && trip.loop->op == op) (*ranges)[trip.loop->iterator] = trip.range;
        return ranges;
    }

    void brace(int number, size_t at) {
        const Brace& here = nest_.braces[static_cast<size_t>(number)];
        const bool is_unit = number == 0 && at == nest_.units();
        if (is_unit) {
            ++movement_.units;
            for (NaiveBuffer& buffer : buffers_) {
                buffer.held.reset();
                buffer.stored.clear();
            }
        }
        if (at < here.loops.size()) {
            loop(number, at);
        } else {
            for (const Item& item : here.items) {
                if (item.kind == Item::Kind::kBrace) brace(item.index, 0);
                if (item.kind == Item::Kind::kRun) execute(item.index);
                if (item.kind == Item::Kind::kMove) load(nest_.moves[static_cast<size_t>(item.index)].tensor);
            }
        }
        if (is_unit)
            for (NaiveBuffer& buffer : buffers_)
                if (buffer.counts.role == BufferRole::kWritten && buffer.held) store(buffer);
    }

    void loop(int number, size_t at) {
        const Loop& here = nest_.braces[static_cast<size_t>(number)].loops[at];
        const auto ranges = region(here.op, trips_);
        if (!ranges) return;
        const facts::Range whole = (*ranges)[here.iterator];
        std::vector<facts::Range> parts;
        for (int64_t a = whole.first; a < whole.last; a += std::min(here.size, whole.last - a))
            parts.push_back({a, a + std::min(here.size, whole.last - a)});
        check_folds(here, parts.size());
        for (size_t i = 0; i < parts.size(); ++i) {
            trips_.push_back({&here, static_cast<int64_t>(i), parts[i], static_cast<int64_t>(parts.size())});
            brace(number, at + 1);
            trips_.pop_back();
        }
    }

    void check_folds(const Loop& here, size_t count) {
        const Operator& op = op_at(here.op);
        const bool is_unused = op.monoid() == Monoid::kSoftmaxSum && !op.is_reduction(here.iterator) &&
                               (op.results[0].iterators >> here.iterator & 1) == 0;
        for (const NaiveTrip& trip : trips_)
            if (is_unused && count > 1 && trip.count > 1 && trip.loop->op == here.op &&
                op.is_reduction(trip.loop->iterator))
                movement_.wrong_numbers = "folds twice";
    }

    void record(NaiveBuffer& buffer, const std::optional<Box>& box) {
        if (!box) return;
        std::vector<int64_t> indices;
        buffer.loops.clear();
        for (const NaiveTrip& trip : trips_) {
            indices.push_back(trip.index);
            buffer.loops.push_back(trip.loop->name);
        }
        buffer.seen[indices] = *box;
        buffer.counts.box_bytes =
            std::max(buffer.counts.box_bytes, kernel_.bytes(buffer.counts.tensor, *box));
    }

    void move(const NaiveBuffer& buffer, Transfers& transfers, const Box& box) const {
        ++transfers.count;
        transfers.bytes += kernel_.bytes(buffer.counts.tensor, box);
    }

    void need(NaiveBuffer& buffer, const std::optional<Box>& box) {
        record(buffer, box);
        if (!box || box == buffer.held) return;
        move(buffer, buffer.counts.loads, *box);
        buffer.held = box;
    }

    void load(int tensor) {
        std::optional<Box> box;
        for (const int reader : tensor_at(tensor).readers)
            if (const auto ranges = region(reader, trips_))
                if (const auto one = naive_read_box(kernel_, reader, tensor, *ranges)) cover(box, *one);
        need(buffer_named(tensor_at(tensor).name), box);
    }

    void store(NaiveBuffer& buffer) {
        move(buffer, buffer.counts.stores, *buffer.held);
        buffer.stored.insert(*buffer.held);
        buffer.all_stored.insert(*buffer.held);
    }

    void execute(int number) {
        const Operator& op = op_at(number);
        const auto ranges = region(number, trips_);
        if (!ranges) return;
        bool begins = true;
        bool ends = true;
        OperatorCounts& counts = movement_.operators[static_cast<size_t>(number)];
        int64_t parallel = 1;
        int64_t held = 1;
        for (size_t x = 0; x < ranges->size(); ++x) {
            const int64_t size = (*ranges)[x].size();
            if (!op.is_reduction(x)) parallel *= size;
            if (op.is_reduction(x) || (op.results[0].iterators >> x & 1) != 0) held *= size;
            begins = begins && (!op.is_reduction(x) || (*ranges)[x].first == 0);
            ends = ends && (!op.is_reduction(x) || (*ranges)[x].last == op.extents()[x]);
        }
        for (const Operand& operand : op.operands) {
            const auto box = naive_read_box(kernel_, number, operand.tensor, *ranges);
            if (!is_outside(operand.tensor))
                check_held(buffer_named(tensor_at(operand.tensor).name), box);
            else if (!nest_.find(MoveKind::kLoad, operand.tensor, 1))
                need(buffer_named(read_name(op, operand.tensor)), box);
        }
        for (const Result& result : op.results) {
            const Ranges made = number == nest_.last ? *ranges : *frame(number, trips_);
            Box box;
            for (const ResultAxis& axis : result.axes)
                box.push_back(
                    {made[axis.iterator].first + axis.constant, made[axis.iterator].last + axis.constant});
            write(buffer_named(tensor_at(result.tensor).name), box, begins);
        }
        ++counts.executions;
        counts.points += size_of(*ranges);
        if (op.monoid() == Monoid::kSoftmaxSum) counts.held_points += held;
        if (ends) counts.elements_ended += parallel;
    }

    void check_held(const NaiveBuffer& buffer, const std::optional<Box>& box) {
        for (size_t a = 0; box && a < box->size(); ++a)
            if (!buffer.held || (*box)[a].first < (*buffer.held)[a].first ||
                (*box)[a].last > (*buffer.held)[a].last)
                movement_.wrong_numbers = "not held";
    }

    void write(NaiveBuffer& buffer, const Box& box, bool begins) {
        record(buffer, box);
        if (buffer.held == box) return;
        if (buffer.counts.role == BufferRole::kWritten) {
            if (buffer.held) store(buffer);
            if (buffer.stored.contains(box) && !begins) move(buffer, buffer.counts.reloads, box);
        }
        buffer.held = box;
    }

    void finish(NaiveBuffer& buffer) {
        for (size_t i = 0; i < buffer.loops.size(); ++i) {
            const bool changes = std::ranges::any_of(buffer.seen, [&](const auto& one) {
                return std::ranges::any_of(buffer.seen, [&](const auto& other) {
                    std::vector<int64_t> indices = other.first;
                    indices[i] = one.first[i];
                    return indices == one.first && other.second != one.second;
                });
            });
            if (changes) buffer.counts.depends.push_back(buffer.loops[i]);
        }
        if (nest_.visible[static_cast<size_t>(buffer.counts.tensor)]) check_visible(buffer);
        movement_.buffers.push_back(buffer.counts);
    }

    /// Checks that each made element lies in a stored box.
    void check_visible(const NaiveBuffer& buffer) {
        const Box& made = tensor_at(buffer.counts.tensor).made;
        std::vector<int64_t> at;
        for (const facts::Range& range : made) at.push_back(range.first);
        for (;;) {
            const bool is_stored = std::ranges::any_of(buffer.all_stored, [&](const Box& box) {
                for (size_t a = 0; a < at.size(); ++a)
                    if (at[a] < box[a].first || at[a] >= box[a].last) return false;
                return true;
            });
            if (!is_stored) movement_.wrong_numbers = "not stored";
            size_t a = at.size();
            while (a-- > 0) {
                if (++at[a] < made[a].last) break;
                at[a] = made[a].first;
            }
            if (a > at.size()) return;
        }
    }

    const Kernel& kernel_;
    const Nest& nest_;
    Movement movement_;
    std::vector<NaiveBuffer> buffers_;
    Trips trips_;
};

}  // namespace

std::optional<Box> naive_read_box(const Kernel& kernel, int op, int tensor,
                                  const facts::IterationBox& ranges) {
    const facts::BoundDefinition& bound = kernel.operators[static_cast<size_t>(op)].bound;
    const Tensor& read = kernel.tensors[static_cast<size_t>(tensor)];
    const std::vector<facts::Access> accesses =
        facts::accesses_of(bound.definition, bound.definition.tensor(read.name));
    std::vector<int64_t> sizes;
    std::vector<int> all;
    for (size_t x = 0; x < ranges.size(); ++x) {
        sizes.push_back(ranges[x].size());
        all.push_back(static_cast<int>(x));
    }
    std::vector<int64_t> x(sizes.size());
    std::optional<Box> box;
    const BoxWalk walk(sizes, all);
    std::vector<int64_t> step;
    walk.start(step);
    do {
        for (size_t i = 0; i < x.size(); ++i) x[i] = ranges[i].first + step[i];
        for (const facts::Access& access : accesses) {
            Box element;
            bool is_inside = true;
            for (size_t a = 0; a < read.shape.size() && is_inside; ++a) {
                element.push_back(read.made[a]);
                if (is_indirect(access.coordinates[a])) continue;
                const int64_t at = integer_value(
                    *access.coordinates[a],
                    {.dims = bound.extents.dims, .iterators = x, .fill_position = 0, .read = nullptr},
                    "naive");
                is_inside = read.made[a].first <= at && at < read.made[a].last;
                element[a] = {at, at + 1};
            }
            if (is_inside) cover(box, element);
        }
    } while (walk.next(step));
    for (size_t a = 0; box && a < read.shape.size(); ++a)
        for (const facts::Access& access : accesses)
            if (is_indirect(access.coordinates[a])) (*box)[a] = read.made[a];
    return box;
}

Movement naive_walk(const Kernel& kernel, const Nest& nest) {
    return NaiveWalk(kernel, nest).run();
}

}  // namespace tessera::nests
