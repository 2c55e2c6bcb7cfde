#include "ir/facts/linear_recurrence.h"

#include <algorithm>

#include "ir/facts/product.h"
#include "ir/iterator_use.h"
#include "ir/recurrence.h"

namespace tessera::facts {
namespace {

const Apply* call_of(const ExprPtr& expr, Function function) {
    const auto* call = std::get_if<Apply>(&expr->node);
    return call && call->function == function ? call : nullptr;
}

bool is_zero(const ExprPtr& expr) {
    const auto* number = std::get_if<Number>(&expr->node);
    return number && number->value == 0;
}

class Reading {
public:
    Reading(const Definition& definition, int x)
        : d_(definition), ordered_(ordered_iterator(definition)), carried_(carried_tensor(definition)) {
        found_.x = x;
    }

    std::optional<LinearRecurrence> run() {
        if (!has_iterators() || !ends_by_predicate()) return std::nullopt;
        const auto carry = std::ranges::find(d_.lines, carried_, &RecurrenceLine::result);
        found_.carry = static_cast<size_t>(carry - d_.lines.begin());
        if (carry->fold != Monoid::kNone || !read_carry(d_.body[found_.carry])) return std::nullopt;
        found_.queries.resize(d_.lines.size());
        for (size_t line = 0; line < d_.lines.size(); ++line)
            if (line != found_.carry && !read_query(line)) return std::nullopt;
        return found_;
    }

private:
    const Iterator& iterator(int x) const { return d_.iterators[static_cast<size_t>(x)]; }

    /// One iterator is folded, and x is parallel; both are axes of the state.
    bool has_iterators() {
        for (int y = 0; y < static_cast<int>(d_.iterators.size()); ++y) {
            if (!iterator(y).is_reduction || y == ordered_) continue;
            if (found_.n >= 0) return false;
            found_.n = y;
        }
        const auto is_axis = [&](int y) {
            return y >= 0 &&
                   std::ranges::any_of(d_.tensors[static_cast<size_t>(carried_)].map, [&](const ExprPtr& at) {
                       const auto* lone = std::get_if<IteratorRef>(&at->node);
                       return lone && lone->index == y;
                   });
        };
        return is_axis(found_.n) && is_axis(found_.x) && !iterator(found_.x).is_reduction;
    }

    bool ends_by_predicate() const {
        if (!d_.where) return true;
        const Apply* less = call_of(d_.where, Function::kLess);
        const auto* i = less ? std::get_if<IteratorRef>(&less->arguments[0]->node) : nullptr;
        return i && i->index == ordered_ && is_apart(less->arguments[1], {found_.n, found_.x, ordered_});
    }

    bool reads(const ExprPtr& expr, bool carried) const {
        return std::ranges::any_of(reads_in({expr}), [&](const Read& read) {
            return carried ? read.tensor == carried_
                           : d_.tensors[static_cast<size_t>(read.tensor)].is_result();
        });
    }

    /// True if the expression uses none of these, and no result.
    bool is_apart(const ExprPtr& expr, const std::vector<int>& iterators) const {
        return !reads(expr, false) && std::ranges::none_of(iterators, [&](int y) { return uses(expr, y); });
    }

    bool is_carried(const ExprPtr& expr) const {
        const auto* read = std::get_if<Read>(&expr->node);
        return read && read->tensor == carried_ &&
               std::ranges::equal(read->coordinates, d_.tensors[static_cast<size_t>(carried_)].map,
                                  [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); });
    }

    /// S, or select(fresh, 0, S).
    bool is_state_before(const ExprPtr& expr) {
        const Apply* choice = call_of(expr, Function::kSelect);
        const ExprPtr fresh = choice ? choice->arguments[0] : nullptr;
        if (choice && (!is_zero(choice->arguments[1]) || !is_apart(fresh, {found_.n, found_.x})))
            return false;
        if (is_known_ && !same(found_.fresh, fresh)) return false;
        found_.fresh = fresh;
        is_known_ = true;
        return is_carried(choice ? choice->arguments[2] : expr);
    }

    /// Takes the one factor that reads the state. @return false if there is another number of them
    bool take_state(std::vector<ExprPtr>& factors, bool before) {
        const auto reads_state = [&](const ExprPtr& factor) { return reads(factor, true); };
        const auto state = std::ranges::find_if(factors, reads_state);
        if (state == factors.end() || !(before ? is_state_before(*state) : is_carried(*state))) return false;
        factors.erase(state);
        return std::ranges::none_of(factors, reads_state);
    }

    bool read_carry(const ExprPtr& body) {
        const Apply* sum = call_of(body, Function::kAdd);
        if (!sum) return false;
        const size_t state = reads(sum->arguments[0], true) ? 0 : 1;
        found_.decay = factors_of(sum->arguments[state], Casts::kToF32);
        if (!take_state(found_.decay, true)) return false;
        for (ExprPtr& factor : factors_of(sum->arguments[1 - state], Casts::kToF32)) {
            const bool is_value = uses(factor, found_.x) || reads(factor, false);
            if (reads(factor, true) || (is_value && uses(factor, found_.n))) return false;
            (is_value ? found_.value : found_.key).push_back(std::move(factor));
        }
        return std::ranges::all_of(found_.decay, [&](const ExprPtr& factor) {
            return is_apart(factor, {found_.n, found_.x});
        });
    }

    bool read_query(size_t number) {
        const RecurrenceLine& line = d_.lines[number];
        std::vector<ExprPtr>& query = found_.queries[number];
        if (line.fold != Monoid::kSum || line_iterators(d_, number).folded != std::vector{found_.n} ||
            (line.post && reads(line.post, true)))
            return false;
        query = factors_of(d_.body[number], Casts::kToF32);
        return take_state(query, number < found_.carry) &&
               std::ranges::all_of(query,
                                   [&](const ExprPtr& factor) { return is_apart(factor, {found_.x}); });
    }

    const Definition& d_;
    const int ordered_, carried_;
    bool is_known_ = false;  ///< found_.fresh
    LinearRecurrence found_;
};

}  // namespace

std::optional<LinearRecurrence> linear_recurrence(const Definition& definition, int x) {
    if (!definition.is_recurrence()) return std::nullopt;
    return Reading(definition, x).run();
}

}  // namespace tessera::facts
