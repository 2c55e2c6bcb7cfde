#include "chip/partition/tile_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chip/partition/reduced_shares.h"
#include "ir/body_value.h"
#include "ir/box_walk.h"
#include "ir/facts/share.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

constexpr double kNothingYet = -std::numeric_limits<double>::infinity();

/// The factor for a sum relative to one maximum, when a larger one replaces it.
double weight_below(double own, double larger) {
    return own == kNothingYet ? 0 : std::exp(own - larger);
}

std::map<int64_t, double> by_element(const HeldNumbers& numbers) {
    std::map<int64_t, double> result;
    const Elements elements = numbers.elements();
    const std::vector<double> values = numbers.numbers(elements);
    size_t next = 0;
    for (const facts::Range& range : elements.ranges())
        for (int64_t at = range.first; at < range.last; ++at) result.emplace(at, values[next++]);
    return result;
}

}  // namespace

TileArithmetic::TileArithmetic(const facts::BoundDefinition& bound)
    : bound_(bound), results_(bound.definition.results()) {
    if (bound.definition.monoid != Monoid::kSoftmaxSum) return;
    // One iteration for each element of the weighted sums.
    const BoxWalk walk(bound.extents.iterators, iterators_in(bound.tensor(results_[2]).map));
    std::vector<int64_t> point;
    walk.start(point);
    do {
        facts::IterationBox box;
        for (const int64_t at : point) box.push_back({at, at + 1});
        const auto element = [&](size_t r) {
            return elements_of(bound, static_cast<size_t>(results_[r]), box).min();
        };
        for (const size_t r : {size_t{1}, size_t{2}}) maximum_of_[r - 1][element(r)] = element(0);
    } while (walk.next(point));
}

double TileArithmetic::untouched(size_t tensor) const {
    const auto t = static_cast<int>(tensor);
    return round_to(bound_.tensor(t).type, identity(bound_.definition, t));
}

PartialResults TileArithmetic::execute(const facts::IterationBox& box, const TileOperands& operands,
                                       const std::string& where) const {
    facts::BoundDefinition part = facts::restricted_to(bound_, box);
    part.definition.post = nullptr;
    const std::vector<TensorData> computed =
        interpret(part.definition, part.extents, operands.numbers, where,
                  /*round_results=*/false, &operands.held, InfiniteScores::kNothing);
    PartialResults partial(results_.size());
    for (size_t r = 0; r < results_.size(); ++r) {
        const Elements written = written_elements(bound_, static_cast<size_t>(results_[r]), box);
        std::vector<double> numbers;
        for (const facts::Range& range : written.ranges())
            numbers.insert(numbers.end(), computed[r].values.begin() + range.first,
                           computed[r].values.begin() + range.last);
        partial[r].put(written, numbers);
    }
    return partial;
}

void TileArithmetic::fold(PartialResults& into, const PartialResults& next) const {
    if (bound_.definition.monoid == Monoid::kSoftmaxSum) return fold_softmax(into, next);
    const Elements all = next[0].elements(), fresh = into[0].missing(all), both = without(all, fresh);
    into[0].put(fresh, next[0].numbers(fresh));
    std::vector<double> sums = into[0].numbers(both);
    const std::vector<double> added = next[0].numbers(both);
    for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = tessera::fold(bound_.definition.monoid, sums[i], added[i]);
    into[0].put(both, sums);
}

void TileArithmetic::fold_softmax(PartialResults& into, const PartialResults& next) const {
    const std::map<int64_t, double> old_maxima = by_element(into[0]), new_maxima = by_element(next[0]);
    const auto old_maximum = [&](int64_t element) {
        const auto found = old_maxima.find(element);
        if (found == old_maxima.end()) return kNothingYet;
        return found->second;
    };
    std::vector<double> maxima;
    for (const auto& [element, maximum] : new_maxima)
        maxima.push_back(tessera::largest(old_maximum(element), maximum));
    for (const size_t r : {size_t{1}, size_t{2}}) {
        const std::map<int64_t, double> old = by_element(into[r]);
        std::vector<double> sums;
        for (const auto& [element, added] : by_element(next[r])) {
            const int64_t own = maximum_of_[r - 1].at(element);
            const double before = old_maximum(own), now = new_maxima.at(own);
            const double both = tessera::largest(before, now);
            const auto held = old.find(element);
            sums.push_back((held == old.end() ? 0 : held->second * weight_below(before, both)) +
                           added * weight_below(now, both));
        }
        into[r].put(next[r].elements(), sums);
    }
    into[0].put(next[0].elements(), maxima);
}

std::vector<double> TileArithmetic::finish(const Piece& piece, const facts::IterationBox& box,
                                           const PartialResults& complete, const std::vector<double>& before,
                                           const TileOperands& operands, const std::string& where) const {
    const auto own = static_cast<int>(piece.tensor);
    const auto result = std::find(results_.begin(), results_.end(), own) - results_.begin();
    std::vector<double> numbers = complete[static_cast<size_t>(result)].numbers(piece.elements);
    for (size_t i = 0; i < before.size(); ++i)
        numbers[i] = tessera::fold(bound_.definition.monoid, before[i], numbers[i]);
    if (bound_.definition.post) {
        std::map<int64_t, size_t> place;  // of an element in the list
        for (const facts::Range& range : piece.elements.ranges())
            for (int64_t at = range.first; at < range.last; ++at) place.emplace(at, place.size());
        const std::vector<ExprPtr>& map = bound_.tensor(own).map;
        BodyValue point(bound_.definition, bound_.extents, operands.numbers, where, &operands.held);
        std::vector<int64_t> sizes, offset;
        for (const facts::Range& range : box) sizes.push_back(range.size());
        const BoxWalk walk(sizes, iterators_in(map));
        const std::vector<double> folded = numbers;
        walk.start(offset);
        do {
            for (size_t i = 0; i < box.size(); ++i) point.iterators[i] = box[i].first + offset[i];
            const auto at = place.find(point.position(own, map).value_or(-1));
            if (at == place.end()) continue;
            point.folded = folded[at->second];
            point.outside = 0;
            numbers[at->second] = point.value(*bound_.definition.post);
        } while (walk.next(offset));
    }
    for (double& number : numbers) number = round_to(bound_.tensor(own).type, number);
    return numbers;
}

}  // namespace tessera::partition
