// The lines of a recurrence, one behind the other at each value of the ordered iterator. Lines that run over
// the same iterators and do not wait for each other's folds share their loops, a pass:
//
//   for h: vector e: for i in 0..I: if i < length:
//     sum = 0; for d: sum += S[d] K[d]; U = sum       a pass: a line that folds d
//     sum = 0; for d: S[d] = ..; sum += S[d] Q[d];    a pass: one that keeps d, and one that folds it
//     Y = sum
//
// The lanes are outside of the ordered iterator where every line has theirs, so that what is carried by a
// group of lanes stays in the nearest cache, or in registers, from one value to the next. Else each pass has
// a loop over them.
//
// A line may read what it replaces at higher places of an iterator (ir/definition_verifier.cpp), so loops go
// upwards.
#include "lowering/kernels/recurrence_loops.h"

#include <algorithm>

#include "ir/recurrence.h"

namespace tessera::kernels::loops {
namespace {

class RecurrenceLoops {
public:
    RecurrenceLoops(const lowering::LeafScope& scope, int x, int64_t lanes)
        : scope_(scope),
          definition_(*scope.node.definition()),
          x_(lanes > 1 ? x : -1),
          lanes_(lanes),
          is_outside_(x_ >= 0 && !iterator(x_).is_reduction) {
        for (size_t line = 0; line < definition_.lines.size(); ++line) {
            lines_.push_back(line_iterators(definition_, line));
            std::erase_if(lines_.back().kept, [&](int y) { return y != x_ && !iterator(y).is_reduction; });
        }
    }

    movement::Body lower(const TakeFirst& take_first) {
        const int ordered = ordered_iterator(definition_);
        const lowering::LeafLoops outer(scope_, parallel());
        at_ = lowering::LeafLoops(outer).values();
        movement::Body body;
        lowering::Ranges rest = scope_.ranges;
        if (take_first) {
            FirstValues first = take_first(at_);
            body = std::move(first.body);
            rest[static_cast<size_t>(ordered)].begin = first.end;
        }
        const lowering::LeafScope behind{scope_.node,    scope_.leaf,   rest,        scope_.is_partial,
                                         scope_.storage, scope_.kernel, scope_.names};
        lowering::LeafLoops order(behind, {ordered});
        at_[static_cast<size_t>(ordered)] = order.values()[static_cast<size_t>(ordered)];
        const std::optional<lowering::LaneLoop> lanes =
            is_outside_ ? std::optional(lanes_of_iterator()) : std::nullopt;
        movement::Body lines;
        for (size_t line = 0, end = 0; line < lines_.size(); line = end) {
            for (end = line + 1; end < lines_.size() && may_join(line, end);) ++end;
            append(lines, lower_pass(line, end));
        }
        if (definition_.where) {
            const lowering::ValueScope values{scope_.node, scope_.storage, at_, 0, nullptr};
            lines = {{movement::If{lowering::to_value(definition_.where, values), std::move(lines)}}};
        }
        lines = order.around(std::move(lines));
        append(body, lanes ? movement::Body{lanes->around(std::move(lines))} : std::move(lines));
        return outer.around(std::move(body));
    }

private:
    static void append(movement::Body& body, movement::Body more) {
        for (movement::Statement& statement : more) body.push_back(std::move(statement));
    }

    const Iterator& iterator(int x) const { return definition_.iterators[static_cast<size_t>(x)]; }

    /// Without that of the lanes.
    std::vector<int> parallel() const {
        std::vector<int> found;
        for (int x = 0; x < static_cast<int>(definition_.iterators.size()); ++x)
            if (!iterator(x).is_reduction && x != x_) found.push_back(x);
        return found;
    }

    lowering::LaneLoop lanes_of_iterator() {
        lowering::LaneLoop lanes = lowering::lane_loop(scope_, x_, lanes_);
        at_[static_cast<size_t>(x_)] = lanes.value;
        return lanes;
    }

    bool has_lanes(size_t line) const { return x_ >= 0 && std::ranges::binary_search(lines_[line].kept, x_); }

    /// The iterators over which a pass of the line has loops, ascending.
    std::vector<int> loops_of(size_t line) const {
        std::vector<int> all = lines_[line].kept;
        std::erase(all, x_);
        all.insert(all.end(), lines_[line].folded.begin(), lines_[line].folded.end());
        std::ranges::sort(all);
        return all;
    }

    /// A line of a pass keeps all of its loops, or folds them all.
    bool keeps_or_folds(size_t line) const {
        return lines_[line].folded.empty() || loops_of(line).size() == lines_[line].folded.size();
    }

    /// True if the pass from `first` on may have this line, too: what they read of each other's results is
    /// made in the same iteration of their loops.
    bool may_join(size_t first, size_t line) const {
        if (has_lanes(first) != has_lanes(line) || loops_of(first) != loops_of(line) ||
            !keeps_or_folds(first) || !keeps_or_folds(line))
            return false;
        for (size_t other = first; other < line; ++other)
            if (!is_read_at_once(other, line) || !is_read_at_once(line, other)) return false;
        return true;
    }

    /// True if `reader` reads what the line makes at its own place alone, and not what it folds.
    bool is_read_at_once(size_t line, size_t reader) const {
        const int made = definition_.lines[line].result;
        for (const Read& read : reads_in({definition_.body[reader], definition_.lines[reader].post})) {
            if (read.tensor != made) continue;
            if (definition_.lines[line].fold != Monoid::kNone ||
                !std::ranges::equal(read.coordinates, definition_.tensors[static_cast<size_t>(made)].map,
                                    [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); }))
                return false;
        }
        return true;
    }

    movement::Body lower_pass(size_t first, size_t end) {
        const std::vector<int> shared = loops_of(first);
        // A line by itself may fold some of its loops inside of those that it keeps.
        std::vector<int> outer, inner = shared;
        if (!keeps_or_folds(first)) {
            outer = lines_[first].kept;
            std::erase(outer, x_);
            inner = lines_[first].folded;
        }
        std::optional<lowering::LaneLoop> lanes;
        if (has_lanes(first) && !is_outside_) lanes = lanes_of_iterator();
        const lowering::LeafLoops around(scope_, outer), loops(scope_, inner);
        std::vector<movement::Index> at = at_;
        set(at, outer, around);
        const std::vector<movement::Index> behind = at;
        set(at, inner, loops);
        movement::Body before, inside, after;
        for (size_t line = first; line < end; ++line)
            lower_line(line, at, behind, has_lanes(first) ? lanes_ : 1, before, inside, after);
        append(before, loops.around(std::move(inside)));
        append(before, std::move(after));
        return around.around(lanes ? movement::Body{lanes->around(std::move(before))} : std::move(before));
    }

    static void set(std::vector<movement::Index>& at, const std::vector<int>& iterators,
                    lowering::LeafLoops loops) {
        for (const int x : iterators) at[static_cast<size_t>(x)] = loops.values()[static_cast<size_t>(x)];
    }

    /// @param at the iterators inside the loops of the pass; `behind`: behind them
    void lower_line(size_t number, const std::vector<movement::Index>& at,
                    const std::vector<movement::Index>& behind, int64_t lanes, movement::Body& before,
                    movement::Body& inside, movement::Body& after) {
        const RecurrenceLine& line = definition_.lines[number];
        const lowering::ValueScope values{scope_.node, scope_.storage, at, identity(line.fold), nullptr};
        const movement::ValuePtr value = lowering::to_value(definition_.body[number], values);
        if (line.fold == Monoid::kNone) {
            inside.push_back({lowering::store_to(line.result, value, values)});
            return;
        }
        const std::string name = scope_.names.fresh(std::string(tessera::name(line.fold)));
        before.push_back({movement::Declare{name, line.fold, lanes}});
        inside.push_back({movement::Accumulate{name, line.fold, value, nullptr}});
        lowering::ValueScope post{scope_.node, scope_.storage, behind, 0, nullptr};
        post.folded = std::make_shared<const movement::ValueExpr>(
            movement::ValueExpr{movement::AccumulatorRef{name, false}});
        const movement::ValuePtr made = line.post ? lowering::to_value(line.post, post) : post.folded;
        after.push_back({lowering::store_to(line.result, made, post)});
    }

    const lowering::LeafScope& scope_;
    const Definition& definition_;
    const int x_;
    const int64_t lanes_;
    const bool is_outside_;             ///< the lanes, of the ordered iterator
    std::vector<LineIterators> lines_;  ///< without parallel iterators other than that of the lanes
    std::vector<movement::Index> at_;
};

}  // namespace

movement::Body lower_recurrence(const lowering::LeafScope& scope, int x, int64_t lanes,
                                const TakeFirst& first) {
    return RecurrenceLoops(scope, x, lanes).lower(first);
}

int64_t lanes_of_recurrence(const Definition& recurrence, int x, int64_t lanes_of_a_register,
                            int64_t extent) {
    int64_t lanes = lanes_of_a_register;
    if (lanes == 1 || recurrence.iterators[static_cast<size_t>(x)].is_reduction) return lanes;
    const int64_t most = std::min(4 * lanes, movement::kMostLanes);
    while (2 * lanes <= most && extent % (2 * lanes) == 0) lanes *= 2;
    return lanes;
}

bool may_have_lanes(const Definition& recurrence, int x) {
    return x != ordered_iterator(recurrence);
}

}  // namespace tessera::kernels::loops
