// The lines of a recurrence, one behind the other at each value of the ordered iterator:
//
//   for h: for i in 0..I: if i < length:
//     for d: vector e: S[d, e] = ..                a line that keeps d and e
//     vector e: sum = 0; for d: sum += ..; Y[e]    a line that folds d
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
        : scope_(scope), definition_(*scope.node.definition()), x_(lanes > 1 ? x : -1), lanes_(lanes) {}

    movement::Body lower() {
        const int ordered = ordered_iterator(definition_);
        lowering::LeafLoops outer(scope_, parallel()), order(scope_, {ordered});
        at_ = outer.values();
        at_[static_cast<size_t>(ordered)] = order.values()[static_cast<size_t>(ordered)];
        movement::Body lines;
        for (size_t line = 0; line < definition_.lines.size(); ++line)
            for (movement::Statement& statement : lower_line(line)) lines.push_back(std::move(statement));
        if (definition_.where) {
            const lowering::ValueScope values{scope_.node, scope_.storage, at_, 0, nullptr};
            lines = {{movement::If{lowering::to_value(definition_.where, values), std::move(lines)}}};
        }
        return outer.around(order.around(std::move(lines)));
    }

private:
    /// Without that of the lanes, along which all lines have loops of their own.
    std::vector<int> parallel() const {
        std::vector<int> found;
        for (int x = 0; x < static_cast<int>(definition_.iterators.size()); ++x)
            if (!definition_.iterators[static_cast<size_t>(x)].is_reduction && x != x_) found.push_back(x);
        return found;
    }

    movement::Body lower_line(size_t number) {
        const RecurrenceLine& line = definition_.lines[number];
        LineIterators iterators = line_iterators(definition_, number);
        const bool has_lanes = std::erase(iterators.kept, x_) > 0;
        std::erase_if(iterators.kept,
                      [&](int x) { return !definition_.iterators[static_cast<size_t>(x)].is_reduction; });
        const lowering::LeafLoops kept(scope_, iterators.kept), folded(scope_, iterators.folded);
        lowering::ValueScope values{scope_.node, scope_.storage, at_, identity(line.fold), nullptr};
        set(values, iterators.kept, kept);
        set(values, iterators.folded, folded);
        std::optional<lowering::LaneLoop> lanes;
        if (has_lanes) {
            lanes = lowering::lane_loop(scope_, x_, lanes_);
            values.iterators[static_cast<size_t>(x_)] = lanes->value;
        }
        movement::Body body = stored(number, folded, values, has_lanes ? lanes_ : 1);
        return kept.around(lanes ? movement::Body{lanes->around(std::move(body))} : std::move(body));
    }

    static void set(lowering::ValueScope& values, const std::vector<int>& iterators,
                    lowering::LeafLoops loops) {
        for (const int x : iterators)
            values.iterators[static_cast<size_t>(x)] = loops.values()[static_cast<size_t>(x)];
    }

    movement::Body stored(size_t number, const lowering::LeafLoops& folded,
                          const lowering::ValueScope& values, int64_t lanes) {
        const RecurrenceLine& line = definition_.lines[number];
        const movement::ValuePtr value = lowering::to_value(definition_.body[number], values);
        if (line.fold == Monoid::kNone) return {{lowering::store_to(line.result, value, values)}};
        const std::string name = scope_.names.fresh(std::string(tessera::name(line.fold)));
        movement::Body body;
        body.push_back({movement::Declare{name, line.fold, lanes}});
        for (movement::Statement& statement :
             folded.around({{movement::Accumulate{name, line.fold, value, nullptr}}}))
            body.push_back(std::move(statement));
        lowering::ValueScope post = values;
        post.outside = 0;
        post.folded = std::make_shared<const movement::ValueExpr>(
            movement::ValueExpr{movement::AccumulatorRef{name, false}});
        const movement::ValuePtr made = line.post ? lowering::to_value(line.post, post) : post.folded;
        body.push_back({lowering::store_to(line.result, made, post)});
        return body;
    }

    const lowering::LeafScope& scope_;
    const Definition& definition_;
    const int x_;
    const int64_t lanes_;
    std::vector<movement::Index> at_;
};

}  // namespace

movement::Body lower_recurrence(const lowering::LeafScope& scope, int x, int64_t lanes) {
    return RecurrenceLoops(scope, x, lanes).lower();
}

bool may_have_lanes(const Definition& recurrence, int x) {
    return x != ordered_iterator(recurrence);
}

}  // namespace tessera::kernels::loops
