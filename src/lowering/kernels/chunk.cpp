// Micro-kernel `chunk`: a recurrence that is linear in its state (ir/facts/linear_recurrence.h), several
// values of the ordered iterator at a time, here two of a state space layer:
//
//   decays: D(0, -1), D(1, -1), D(1, 0);   for n: Q'[i][n] = D(i, -1) Q_i, K'[j][n] = D(1, j) key_j
//   P(i, j) = D(i, j) (sum over n of key_j Q_i)
//   vector x: for n: s = S[n];  y_0 += s Q'[0][n];  y_1 += s Q'[1][n]
//                    S[n] = s D(1, -1) + K'[0][n] value_0 + K'[1][n] value_1
//             y_1 += P(1, 0) value_0 ..
//
// The state is read and written once for all of them, and each value costs 2 operations for an element of it
// where one by one it costs 3. Lines in front of the state's own, as in a delta rule, need a pass over it
// first; then their results follow one from the other, since value_j is made of that of j:
//
//   for i: u_i = f(w_i + sum over j < i of P(i, j) value_j(u_j))
//
// The rest at the end goes one by one, as `loops` does.
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "ir/facts/linear_recurrence.h"
#include "ir/recurrence.h"
#include "lowering/kernels/candidates.h"
#include "lowering/kernels/parameters.h"
#include "lowering/kernels/product_types.h"
#include "lowering/kernels/recurrence_loops.h"
#include "lowering/movement/identifier.h"
#include "lowering/refusal.h"

namespace tessera::kernels::chunk {
namespace {

using movement::Body;
using movement::Index;
using movement::ValuePtr;

constexpr plan::Parameter kAlong = parameter::iterator("x", "iterator of the lanes", true);
using parameter::kSteps;
constexpr int64_t kMostFolded = 4096;  ///< elements, whose keys and queries lie in tiles on the stack

ValuePtr times(const ValuePtr& a, const ValuePtr& b) {
    return a && b ? movement::apply_value(Function::kMul, {a, b}) : a ? a : b;
}

ValuePtr one_of(const ValuePtr& value) {
    return value ? value : movement::number_value(1);
}

ValuePtr accumulated(const std::string& name, bool fold_lanes = false) {
    return movement::make_value({movement::AccumulatorRef{name, fold_lanes}});
}

void append(Body& body, Body more) {
    for (movement::Statement& statement : more) body.push_back(std::move(statement));
}

/// A tile of this kernel's own on the stack.
struct Tile {
    std::string name;

    ValuePtr load(const Index& at, int64_t lane_stride = 0) const {
        movement::Load load;
        load.from = {name, at};
        load.lane_stride = lane_stride;
        return movement::make_value({std::move(load)});
    }
    movement::Statement store(const Index& at, ValuePtr value, int64_t lane_stride = 0) const {
        return {movement::Store{{name, at}, lane_stride, std::move(value)}};
    }
};

class Chunks {
public:
    Chunks(const lowering::LeafScope& scope, facts::LinearRecurrence recurrence)
        : scope_(scope),
          definition_(*scope.node.definition()),
          linear_(std::move(recurrence)),
          lanes_(scope.leaf.number(parameter::kLanes)),
          steps_(scope.leaf.number(kSteps)),
          ordered_(static_cast<size_t>(ordered_iterator(definition_))),
          n_(static_cast<size_t>(linear_.n)) {
        const int64_t all = scope.ranges[n_].largest;
        if (all > kMostFolded)
            throw lowering::Refused(
                scope.node.name, "chunk",
                fmt::format("has {} elements to fold, expected at most {}", all, kMostFolded),
                "use the micro-kernel loops");
        row_ = (all + lanes_ - 1) / lanes_ * lanes_;
    }

    /// All whole chunks, from the first value on: none where a length is below 0.
    loops::FirstValues take(const std::vector<Index>& at) {
        at_ = at;
        const lowering::Range& range = scope_.ranges[ordered_];
        lowering::Ranges here = scope_.ranges;
        for (size_t y = 0; y < here.size(); ++y)
            if (!definition_.iterators[y].is_reduction && static_cast<int>(y) != linear_.x)
                here[y] = {at[y], at[y] + Index(1), 1};
        Index stop = range.end;
        for (const Index& bound :
             lowering::bounds_by_predicate(scope_.node, static_cast<int>(ordered_), here, scope_.storage))
            stop = movement::min(stop, bound);
        const std::string name = movement::iterator_identifier(definition_.iterators[ordered_].name);
        const Index count =
            movement::max(movement::floor_div(stop - range.begin, steps_), Index(0)) * Index(steps_);
        const movement::Variable end{scope_.names.fresh(name + "_chunks"),
                                     {range.begin.bounds().low, range.end.bounds().high}};
        const movement::Variable first{
            scope_.names.fresh(name + "_first"),
            {range.begin.bounds().low, std::max(range.begin.bounds().low, range.end.bounds().high - 1)},
            std::gcd(range.begin.divisor(), steps_)};
        first_ = Index::variable(first);
        loops::FirstValues values;
        values.body.push_back({movement::Let{end, range.begin + count}});
        values.end = Index::variable(end);
        values.body.push_back({movement::For{first, range.begin, values.end, steps_, chunk()}});
        return values;
    }

private:
    bool is_before(size_t line) const { return line < linear_.carry; }
    Index at_tile(int64_t i, int64_t j) const { return Index(i * (steps_ + 1) + j + 1); }

    lowering::ValueScope scope_of(int64_t step) const {
        lowering::ValueScope values{scope_.node, scope_.storage, at_, 0, nullptr};
        values.iterators[ordered_] = first_ + Index(step);
        return values;
    }

    /// The product of these factors, null if there are none.
    static ValuePtr product(const std::vector<ExprPtr>& factors, const lowering::ValueScope& values) {
        ValuePtr found;
        for (const ExprPtr& factor : factors) found = times(found, lowering::to_value(factor, values));
        return found;
    }

    /// `value`, or 0 at a step where the state before counts as 0.
    ValuePtr kept(int64_t step, ValuePtr value) const {
        if (!linear_.fresh) return value;
        return movement::apply_value(Function::kSelect, {lowering::to_value(linear_.fresh, scope_of(step)),
                                                         movement::number_value(0), std::move(value)});
    }

    Tile tile(const std::string& name, int64_t elements, Body& body) const {
        Tile made{scope_.names.fresh(name + "_of_" + scope_.node.name)};
        body.push_back({movement::LocalTile{made.name, elements}});
        return made;
    }

    Body chunk() {
        Body body;
        make_decays(body);
        make_rows(body);
        make_products(body);
        lowering::LaneLoop lanes = lowering::lane_loop(scope_, linear_.x, lanes_);
        at_[static_cast<size_t>(linear_.x)] = lanes.value;
        Body inside;
        for (size_t line = 0; line < definition_.lines.size(); ++line)
            if (line != linear_.carry)
                for (int64_t i = 0; i < steps_; ++i) declare(sums_[line], inside, lanes_);
        if (linear_.carry > 0) {
            Body pass = load_state();
            fold_state(pass);
            append(inside, loops_->around(std::move(pass)));
            for (int64_t i = 0; i < steps_; ++i)
                for (size_t line = 0; line < linear_.carry; ++line) finish(line, i, inside);
        }
        Body pass = load_state();
        if (linear_.carry == 0) fold_state(pass);
        store_state(pass);
        append(inside, loops_->around(std::move(pass)));
        for (size_t line = linear_.carry + 1; line < definition_.lines.size(); ++line)
            for (int64_t i = 0; i < steps_; ++i) finish(line, i, inside);
        body.push_back(lanes.around(std::move(inside)));
        return body;
    }

    /// D(i, j), and that of lines in front of the carried one: D(i - 1, j), 0 where the state is fresh.
    void make_decays(Body& body) {
        decays_ = tile("decays", steps_ * (steps_ + 1), body);
        before_ = linear_.carry > 0 && linear_.fresh ? tile("kept", steps_ * (steps_ + 1), body) : decays_;
        for (int64_t i = 0; i < steps_; ++i) {
            ValuePtr own = one_of(product(linear_.decay, scope_of(i)));
            if (i > 0) own = kept(i, own);
            body.push_back(decays_.store(at_tile(i, i - 1), own));
            for (int64_t j = -1; j < i - 1; ++j)
                body.push_back(decays_.store(
                    at_tile(i, j), times(decays_.load(at_tile(i - 1, j)), decays_.load(at_tile(i, i - 1)))));
            if (before_.name == decays_.name) continue;
            for (int64_t j = -1; j < i; ++j)
                body.push_back(before_.store(at_tile(i, j),
                                             i == 0 ? movement::number_value(1)
                                                    : kept(i, j == i - 1 ? movement::number_value(1)
                                                                         : decays_.load(at_tile(i - 1, j)))));
        }
    }

    /// The factor of the state of j, or of that before the chunk, -1, in the line at i; null: as it is.
    ValuePtr decay(size_t line, int64_t i, int64_t j) const {
        if (!is_before(line)) return i == j ? nullptr : decays_.load(at_tile(i, j));
        if (before_.name != decays_.name) return i == 0 ? nullptr : before_.load(at_tile(i, j));
        return j == i - 1 ? nullptr : decays_.load(at_tile(i - 1, j));
    }

    /// Q' and K' by rows.
    void make_rows(Body& body) {
        keys_ = tile("keys", steps_ * row_, body);
        rows_.resize(definition_.lines.size());
        for (size_t line = 0; line < rows_.size(); ++line)
            if (line != linear_.carry) rows_[line] = tile("queries", steps_ * row_, body);
        const lowering::LaneLoop lanes = along_n();
        const Index to = lanes.value.substitute(lowering::kLane, Index(0)) - scope_.ranges[n_].begin;
        Body inside;
        for (int64_t i = 0; i < steps_; ++i) {
            const ValuePtr suffix = i + 1 < steps_ ? decays_.load(at_tile(steps_ - 1, i)) : nullptr;
            inside.push_back(keys_.store(Index(i * row_) + to, one_of(times(key(i), suffix)), 1));
            for (size_t line = 0; line < rows_.size(); ++line)
                if (line != linear_.carry)
                    inside.push_back(rows_[line].store(Index(i * row_) + to,
                                                       one_of(times(query(line, i), decay(line, i, -1))), 1));
        }
        body.push_back(lanes.around(std::move(inside)));
    }

    /// P(i, j).
    void make_products(Body& body) {
        products_.resize(definition_.lines.size());
        for (size_t line = 0; line < products_.size(); ++line) {
            if (line == linear_.carry) continue;
            products_[line] = tile("products", steps_ * (steps_ + 1), body);
            const int64_t behind = is_before(line) ? 0 : 1;
            std::vector<std::string> sums;
            for (int64_t i = 0; i < steps_; ++i)
                for (int64_t j = 0; j < i + behind; ++j) declare(sums, body, lanes_);
            const lowering::LaneLoop lanes = along_n();
            Body inside, stores;
            size_t at = 0;
            for (int64_t i = 0; i < steps_; ++i)
                for (int64_t j = 0; j < i + behind; ++j, ++at) {
                    inside.push_back({movement::Accumulate{sums[at], Monoid::kSum,
                                                           one_of(times(query(line, i), key(j))), nullptr}});
                    stores.push_back(products_[line].store(
                        at_tile(i, j), times(accumulated(sums[at], true), decay(line, i, j))));
                }
            body.push_back(lanes.around(std::move(inside)));
            append(body, std::move(stores));
        }
    }

    lowering::LaneLoop along_n() {
        lowering::LaneLoop lanes = lowering::lane_loop(scope_, linear_.n, lanes_);
        at_[n_] = lanes.value;
        return lanes;
    }

    ValuePtr key(int64_t step) const { return product(linear_.key, scope_of(step)); }
    ValuePtr query(size_t line, int64_t step) const { return product(linear_.queries[line], scope_of(step)); }
    ValuePtr value(int64_t step) const { return one_of(product(linear_.value, scope_of(step))); }

    void declare(std::vector<std::string>& names, Body& body, int64_t lanes) {
        names.push_back(scope_.names.fresh("sum"));
        body.push_back({movement::Declare{names.back(), Monoid::kSum, lanes}});
    }

    /// The state before the chunk, once for all that read it.
    Body load_state() {
        loops_.emplace(scope_, std::vector<int>{linear_.n});
        at_[n_] = loops_->values()[n_];
        state_ = scope_.names.fresh("state");
        Body body{{movement::Declare{state_, Monoid::kSum, lanes_}}};
        const lowering::ValueScope values = scope_of(0);
        const ValuePtr is_kept =
            linear_.fresh ? movement::apply_value(Function::kNot, {lowering::to_value(linear_.fresh, values)})
                          : nullptr;
        body.push_back({movement::Accumulate{
            state_, Monoid::kSum, lowering::load_result(carried_tensor(definition_), values), is_kept}});
        return body;
    }

    Index in_row(int64_t step) const { return Index(step * row_) + at_[n_] - scope_.ranges[n_].begin; }

    void fold_state(Body& pass) const {
        for (size_t line = 0; line < rows_.size(); ++line)
            if (line != linear_.carry)
                for (int64_t i = 0; i < steps_; ++i)
                    pass.push_back({movement::Accumulate{
                        sums_[line][static_cast<size_t>(i)], Monoid::kSum,
                        times(accumulated(state_), rows_[line].load(in_row(i))), nullptr}});
    }

    void store_state(Body& pass) const {
        const std::string next = scope_.names.fresh("next");
        pass.push_back({movement::Declare{next, Monoid::kSum, lanes_}});
        pass.push_back({movement::Accumulate{
            next, Monoid::kSum, times(accumulated(state_), decays_.load(at_tile(steps_ - 1, -1))), nullptr}});
        for (int64_t j = 0; j < steps_; ++j)
            pass.push_back(
                {movement::Accumulate{next, Monoid::kSum, times(value(j), keys_.load(in_row(j))), nullptr}});
        pass.push_back({lowering::store_to(carried_tensor(definition_), accumulated(next), scope_of(0))});
    }

    /// The result of a line at a step, once all values that it is made of are known.
    void finish(size_t line, int64_t i, Body& body) const {
        const std::string& sum = sums_[line][static_cast<size_t>(i)];
        for (int64_t j = 0; j < i + (is_before(line) ? 0 : 1); ++j)
            body.push_back({movement::Accumulate{
                sum, Monoid::kSum, times(value(j), products_[line].load(at_tile(i, j))), nullptr}});
        lowering::ValueScope values = scope_of(i);
        values.folded = accumulated(sum);
        const RecurrenceLine& own = definition_.lines[line];
        body.push_back({lowering::store_to(
            own.result, own.post ? lowering::to_value(own.post, values) : values.folded, values)});
    }

    const lowering::LeafScope& scope_;
    const Definition& definition_;
    const facts::LinearRecurrence linear_;
    const int64_t lanes_, steps_;
    const size_t ordered_, n_;
    int64_t row_ = 0;        ///< elements of a row of keys or queries
    std::vector<Index> at_;  ///< the iterators at the place that is lowered, but for the ordered one
    Index first_;            ///< the first value of the chunk
    Tile decays_, before_, keys_;
    std::vector<Tile> rows_, products_;                                     ///< by line
    std::vector<std::vector<std::string>> sums_{definition_.lines.size()};  ///< by line and step
    std::optional<lowering::LeafLoops> loops_;                              ///< over n, of the pass at hand
    std::string state_;
};

Body lower(const lowering::LeafScope& scope) {
    const Definition& definition = *scope.node.definition();
    const int x = lowering::iterator_parameter(scope, kAlong);
    auto linear = facts::linear_recurrence(definition, x);
    if (!linear)
        throw lowering::Refused(scope.node.name, "x", "is no iterator along which its state is linear",
                                "use the micro-kernel loops");
    Chunks chunks(scope, *std::move(linear));
    return loops::lower_recurrence(scope, x, scope.leaf.number(parameter::kLanes),
                                   [&](const std::vector<Index>& at) { return chunks.take(at); });
}

std::string why_not(const Definition& definition) {
    if (!definition.is_recurrence() || !definition.may_regroup)
        return "it is no recurrence that may be regrouped";
    for (int x = 0; x < static_cast<int>(definition.iterators.size()); ++x)
        if (facts::linear_recurrence(definition, x)) return "";
    return "its state is not linear in that before";
}

/// Registers that sums take at one time, over the state with values beside them, or of the products.
int64_t registers_of(const facts::LinearRecurrence& linear, int64_t steps, int64_t of_a_group) {
    const auto queries = static_cast<int64_t>(linear.queries.size()) - 1;
    return of_a_group * std::max((queries + 1) * steps + 2, steps * (steps + 1) / 2 + 2);
}

/// Leaves that take several values, as many as there are registers for.
void candidates(const CandidateScope& scope, std::vector<Candidate>& out) {
    const Definition& d = scope.definition();
    const int64_t values = scope.extent(ordered_iterator(d));
    for (int x = 0; x < static_cast<int>(d.iterators.size()) && scope.target.lanes > 1; ++x) {
        const auto linear = facts::linear_recurrence(d, x);
        if (!linear) continue;
        for (const auto& [steps, registers] :
             {std::pair{8, 1}, std::pair{4, 2}, std::pair{4, 1}, std::pair{2, 2}, std::pair{2, 1}}) {
            const int64_t lanes = registers * scope.target.lanes;
            if (values < 2 * steps || lanes > parameter::kLanes.most || scope.extent(x) % lanes != 0 ||
                registers_of(*linear, steps, registers) > scope.target.vector_registers)
                continue;
            plan::Leaf leaf = scope.leaf();
            leaf.set(kAlong, scope.name(x)).set(parameter::kLanes, lanes).set(kSteps, steps);
            out.push_back({std::move(leaf), lanes});
        }
    }
}

constexpr std::array kParameters = {kAlong, parameter::kLanes, kSteps};
constexpr std::array kResults = {ElementType::kF32};

}  // namespace
}  // namespace tessera::kernels::chunk

namespace tessera::kernels {

extern const plan::MicroKernel kChunk;
constinit const plan::MicroKernel kChunk{
    .name = "chunk",
    .summary = "several values of the ordered iterator at a time, with lanes along iterator x",
    .implements = "recurrences that may be regrouped and are linear in their state",
    .parameters = chunk::kParameters,
    .results = chunk::kResults,
    .is_listed = false,
    .lanes = {&chunk::kAlong, &parameter::kLanes},
    .why_not = chunk::why_not,
    .candidates = chunk::candidates,
    .lower = chunk::lower,
    .streamed = streamed_values};

}  // namespace tessera::kernels
