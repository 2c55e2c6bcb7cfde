#include "nest/nests/level_walk.h"

#include <algorithm>
#include <numeric>

#include "ir/checked_arithmetic.h"
#include "nest/nests/level_buffers.h"
#include "nest/nests/operator_work.h"
#include "support/error.h"

namespace tessera::nests {
namespace {

class LevelWalker : private TripWalk {
public:
    LevelWalker(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                const WalkOptions& options)
        : TripWalk(kernel, nest, options),
          machine_(machine),
          buffers_(kernel, machine, nest, ranges_.influence()),
          terms_(kernel.operators.size()) {
        for (const OperatorTime& time : machine.times) resolve(kernel.find_operator(time.op), time);
        movement_.most_bytes_of_unit.resize(machine.levels.size());
    }

    std::variant<LevelMovement, Illegal> run() {
        TripWalk::run();
        if (illegal_) return *illegal_;
        if (folded_twice_) return Illegal{Illegal::Kind::kNumbers, std::move(*folded_twice_)};
        movement_.units = units_;
        movement_.operators = operators_;
        for (const LevelBuffer& buffer : buffers_.all())
            movement_.buffers.push_back({buffer.name, buffer.tensor, buffer.level, buffer.role, buffer.other,
                                         buffer.loads, buffer.stores, buffer.reloads,
                                         buffer.boxes.largest()});
        return std::move(movement_);
    }

private:
    struct Term {
        double seconds = 0;
        std::vector<size_t> iterators;
    };
    /// A box that a buffer of a shared level takes or moves.
    struct Event {
        size_t buffer = 0;
        Transfers LevelBuffer::*moved = nullptr;  ///< null: it takes the box
        int box = 0;
        bool operator==(const Event&) const = default;
    };

    void resolve(int op, const OperatorTime& time) {
        TESSERA_CHECK(op >= 0, "no operator {}", time.op);
        std::vector<Term>& terms = terms_[static_cast<size_t>(op)].emplace();
        for (const TimeTerm& term : time.terms) {
            terms.push_back({term.seconds, {}});
            for (const std::string& name : term.iterators)
                terms.back().iterators.push_back(
                    static_cast<size_t>(op_at(op).bound.definition.iterator(name)));
        }
    }

    // ---- units ----

    void begin_unit() override {
        for (LevelBuffer& buffer : buffers_.all()) {
            buffer.held = -1;
            buffer.bytes_of_unit = 0;
        }
        next_event_.assign(buffers_.all().size(), 0);
        events_.resize(buffers_.all().size());
        seconds_ = 0;
        before_ = operators_;
    }

    void end_unit() override {
        for (size_t t = 0; t < kernel_.tensors.size(); ++t) empty(static_cast<int>(t), 0);
        for (size_t b = 0; b < events_.size(); ++b)
            if (next_event_[b] != events_[b].size()) units_differ_ = true;
        if (units_differ_) refuse(Illegal::Kind::kForm, "the units move different boxes at a shared level");
        for (size_t level = 1; level < machine_.levels.size(); ++level) {
            int64_t bytes = 0;
            for (const LevelBuffer& buffer : buffers_.all())
                if (crosses(buffer, static_cast<int>(level)))
                    bytes = checked_add(bytes, buffer.bytes_of_unit, kernel_.where);
            int64_t& most = movement_.most_bytes_of_unit[level];
            most = std::max(most, bytes);
        }
        for (size_t op = 0; op < operators_.size(); ++op)
            if (!terms_[op])
                seconds_ +=
                    static_cast<double>(
                        work_of(kernel_.operators[op], difference(operators_[op], before_[op]), kernel_.where)
                            .flops) /
                    machine_.peak;
        movement_.compute_seconds = std::max(movement_.compute_seconds, seconds_);
    }

    /// The first reason counts.
    void refuse(Illegal::Kind kind, std::string reason) {
        if (!illegal_) illegal_ = Illegal{kind, std::move(reason)};
    }

    static bool crosses(const LevelBuffer& buffer, int level) {
        return buffer.role != BufferRole::kKept && buffer.other < level && level <= buffer.level;
    }

    static OperatorCounts difference(const OperatorCounts& after, const OperatorCounts& before) {
        return {after.executions - before.executions, after.points - before.points,
                after.held_points - before.held_points, after.elements_ended - before.elements_ended};
    }

    // ---- boxes and moves ----

    Ranges& ranges_of(const LevelBuffer& buffer) { return buffer.is_shared ? ranges_of_all_units_ : ranges_; }

    /// The number of the box that the buffer needs now; -1 if it is empty. `derive(ranges, box)` gives false
    /// for an empty one.
    int box_at(LevelBuffer& buffer, auto&& derive) {
        Ranges& ranges = ranges_of(buffer);
        return buffer.needed.at(ranges, [&] {
            if (!derive(ranges, box_)) return -1;
            bool is_new = false;
            const int number = buffer.boxes.number(box_, is_new);
            if (is_new) charge(kStepsOfBox);
            return number;
        });
    }

    /// Moves of a shared level count in the first unit; the others must do the same.
    bool counts(const LevelBuffer& buffer, const Event& event) {
        if (!buffer.is_shared) return true;
        std::vector<Event>& events = events_[event.buffer];
        size_t& next = next_event_[event.buffer];
        if (units_ == 1) {
            charge(1);
            events.push_back(event);
        } else if (next >= events.size() || events[next] != event) {
            units_differ_ = true;
        }
        ++next;
        return units_ == 1;
    }

    void move(LevelBuffer& buffer, Transfers LevelBuffer::*moved, int box) {
        if (!counts(buffer, {index_of(buffer), moved, box})) return;
        const int64_t bytes = buffer.boxes.bytes(box);
        Transfers& transfers = buffer.*moved;
        ++transfers.count;
        transfers.bytes = checked_add(transfers.bytes, bytes, kernel_.where);
        buffer.bytes_of_unit = checked_add(buffer.bytes_of_unit, bytes, kernel_.where);
    }

    void take(LevelBuffer& buffer, int box) {
        TESSERA_CHECK(box >= 0, "{} takes no box", buffer.name);
        counts(buffer, {index_of(buffer), nullptr, box});
        buffer.held = box;
    }

    size_t index_of(const LevelBuffer& buffer) const {
        return static_cast<size_t>(&buffer - buffers_.all().data());
    }

    // ---- reading ----

    void pass(const Move& move) override {
        if (move.kind != MoveKind::kLoad) return;
        LevelBuffer& buffer = buffers_.loaded(move.tensor, move.level);
        need(buffer, box_at(buffer, [&](Ranges& ranges, Box& box) {
                 return box_of_readers(ranges, move.tensor, move.depth, box);
             }));
    }

    void need(LevelBuffer& buffer, int box) {
        empty(buffer.tensor, 0);
        if (box < 0 || box == buffer.held) return;
        move(buffer, &LevelBuffer::loads, box);
        take(buffer, box);
    }

    void read(int number, size_t operand) {
        if (LevelBuffer* buffer = buffers_.filled_at(number, operand))
            return need(*buffer, box_at(*buffer, [&](Ranges& ranges, Box& box) {
                return ranges.region(number, buffer->depth, made_) &&
                       ranges.read_box(number, operand, made_, box);
            }));
        const int tensor = op_at(number).operands[operand].tensor;
        const LevelBuffer* home = buffers_.home(tensor);
        if (!home || home->level != machine_.inner()) return;
        const bool is_empty = home->held < 0;
        if (ranges_.read_box(number, operand, region_, box_) &&
            (is_empty || !covers(home->boxes.box(home->held), box_)))
            refuse(Illegal::Kind::kNumbers,
                   fmt::format("{} reads a part of {} that was not made", op_at(number).name(),
                               kernel_.tensors[static_cast<size_t>(tensor)].name));
    }

    // ---- writing ----

    /// Stores what is held of a result in levels from `outermost` on, innermost first, and forgets it.
    void empty(int tensor, int outermost) {
        const std::vector<size_t>& way = buffers_.on_the_way(tensor);
        for (auto at = way.rbegin(); at != way.rend(); ++at) {
            LevelBuffer& buffer = buffers_.all()[*at];
            if (buffer.level < outermost) return;
            if (buffer.held < 0) continue;
            move(buffer, &LevelBuffer::stores, buffer.held);
            buffer.held = -1;
        }
    }

    /// Makes room for a result in all buffers that it goes through.
    void open(int op, const Result& result, bool begins) {
        if (LevelBuffer* home = buffers_.home(result.tensor)) {
            const int box = box_at(*home, [&](Ranges& ranges, Box& box_here) {
                const facts::IterationBox* frame = ranges.frame(op, depth_of(op));
                if (frame) box_of_result(result, *frame, box_here);
                return frame != nullptr;
            });
            if (box != home->held) {
                empty(result.tensor, 0);
                take(*home, box);
            }
        }
        for (const size_t at : buffers_.on_the_way(result.tensor)) {
            LevelBuffer& buffer = buffers_.all()[at];
            const int box = box_at(buffer, [&](Ranges& ranges, Box& box_here) {
                if (!ranges.region(op, buffer.depth, made_)) return false;
                box_of_result(result, made_, box_here);
                return true;
            });
            if (box == buffer.held) continue;
            empty(result.tensor, buffer.level);
            take(buffer, box);
            if (!begins) move(buffer, &LevelBuffer::reloads, box);
        }
    }

    void execute(int number, bool begins) override {
        const Operator& op = op_at(number);
        for (size_t i = 0; i < op.operands.size(); ++i) read(number, i);
        for (const Result& result : op.results) open(number, result, begins);
        if (const auto& terms = terms_[static_cast<size_t>(number)])
            for (const Term& term : *terms)
                seconds_ += std::accumulate(term.iterators.begin(), term.iterators.end(), term.seconds,
                                            [&](double seconds, size_t x) {
                                                return seconds * static_cast<double>(region_[x].size());
                                            });
    }

    const LevelMachine& machine_;
    LevelBuffers buffers_;
    std::vector<std::optional<std::vector<Term>>> terms_;  ///< by operator
    LevelMovement movement_;
    double seconds_ = 0;                      ///< of this unit
    std::vector<OperatorCounts> before_;      ///< this unit
    std::vector<std::vector<Event>> events_;  ///< of the first unit, by buffer; of shared levels
    std::vector<size_t> next_event_;          ///< of this unit, by buffer
    bool units_differ_ = false;               ///< in this unit or before
    std::optional<Illegal> illegal_;
    Box box_;
    facts::IterationBox made_;
};

}  // namespace

std::variant<LevelMovement, Illegal> walk(const Kernel& kernel, const LevelMachine& machine, const Nest& nest,
                                          const WalkOptions& options) {
    return LevelWalker(kernel, machine, nest, options).run();
}

}  // namespace tessera::nests
