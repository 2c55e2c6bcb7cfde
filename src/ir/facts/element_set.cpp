#include <algorithm>
#include <numeric>

#include "ir/facts/image.h"
#include "support/error.h"

// Counting a union of products, here of two boxes on two axes:
//
//      axis 1
//     7 |    +-----+              Axis 0 falls into segments on which the same products are alive:
//     5 | +--+--+ B|              {A}, {A, B}, {B}. The count is the sum over segments of their length
//     3 | |A +--+--+              times the count of the union of the living products, on the remaining
//     1 | +-----+                 axes.
//       +--1--2--4--5-- axis 0

namespace tessera::facts {

class UnionCount {
public:
    explicit UnionCount(const ElementSet& elements) : elements_(elements) {}

    int64_t count(std::vector<int> alive, std::vector<size_t> axes) {
        if (alive.size() > 1) {
            spend(alive.size() * axes.size());
            int64_t common = 1;
            std::vector<size_t> differing;
            for (const size_t axis : axes) {
                if (std::ranges::all_of(alive, [&](int p) { return id(p, axis) == id(alive[0], axis); }))
                    common *= size(alive[0], axis);
                else
                    differing.push_back(axis);
            }
            if (differing.size() < axes.size()) {
                if (differing.empty()) return common;
                return common * count(distinct(alive, differing), differing);
            }
        }
        if (alive.size() == 1) {
            int64_t product = 1;
            for (const size_t axis : axes) product *= size(alive[0], axis);
            return product;
        }
        if (axes.size() == 1) return unite_all(alive, axes[0]).size();
        return sweep(alive, axes);
    }

private:
    int id(int product, size_t axis) const { return elements_.products_[static_cast<size_t>(product)][axis]; }
    const IntegerSet& set(int product, size_t axis) const {
        return elements_.sets_[static_cast<size_t>(id(product, axis))];
    }
    int64_t size(int product, size_t axis) const { return set(product, axis).size(); }

    void spend(size_t steps) {
        spent_ += static_cast<int64_t>(steps);
        if (spent_ > kOverlapLimit)
            throw Error("facts", "", "the accesses overlap in too many ways to be counted",
                        "give the definition smaller extents");
    }

    IntegerSet unite_all(const std::vector<int>& alive, size_t axis) const {
        std::vector<Range> ranges;
        for (const int p : alive)
            ranges.insert(ranges.end(), set(p, axis).ranges().begin(), set(p, axis).ranges().end());
        return IntegerSet::of_ranges(std::move(ranges));
    }

    // One of each set of products that are equal on these axes.
    std::vector<int> distinct(const std::vector<int>& alive, const std::vector<size_t>& axes) const {
        std::map<std::vector<int>, int> first;
        for (const int p : alive) {
            std::vector<int> key;
            for (const size_t axis : axes) key.push_back(id(p, axis));
            first.emplace(std::move(key), p);
        }
        std::vector<int> kept;
        for (const auto& [key, p] : first) kept.push_back(p);
        std::ranges::sort(kept);
        return kept;
    }

    // The axis on which the fewest products are alive together.
    size_t best_axis(const std::vector<int>& alive, const std::vector<size_t>& axes) const {
        size_t best = axes[0];
        double least = 0;
        for (const size_t axis : axes) {
            double total = 0;
            for (const int p : alive) total += static_cast<double>(size(p, axis));
            const double overlap = total / static_cast<double>(unite_all(alive, axis).size());
            if (axis == axes[0] || overlap < least) {
                best = axis;
                least = overlap;
            }
        }
        return best;
    }

    int64_t sweep(const std::vector<int>& alive, const std::vector<size_t>& axes) {
        struct Event {
            int64_t at;
            int product;
            bool starts;
        };
        const size_t axis = best_axis(alive, axes);
        std::vector<size_t> others;
        for (const size_t a : axes)
            if (a != axis) others.push_back(a);
        std::vector<Event> events;
        for (const int p : alive)
            for (const Range& range : set(p, axis).ranges()) {
                events.push_back({range.first, p, true});
                events.push_back({range.last, p, false});
            }
        std::ranges::sort(events, {}, &Event::at);
        std::map<std::vector<int>, int64_t> length_of;  // of the segments on which these products are alive
        std::vector<int> now;                           // sorted
        for (size_t i = 0; i < events.size();) {
            const int64_t at = events[i].at;
            for (; i < events.size() && events[i].at == at; ++i) {
                const auto place = std::ranges::lower_bound(now, events[i].product);
                if (events[i].starts)
                    now.insert(place, events[i].product);
                else
                    now.erase(place);
            }
            spend(now.size() + 1);
            if (!now.empty()) length_of[now] += events[i].at - at;
        }
        int64_t total = 0;
        for (const auto& [products, length] : length_of)
            total += length * count(distinct(products, others), others);
        return total;
    }

    const ElementSet& elements_;
    int64_t spent_ = 0;
};

void ElementSet::add(const std::vector<IntegerSet>& product) {
    TESSERA_CHECK(product.size() == rank_, "{} axes in a set of rank {}", product.size(), rank_);
    std::vector<int> key;
    for (const IntegerSet& set : product) {
        if (set.empty()) return;
        const auto [place, is_new] = positions_.emplace(set, static_cast<int>(sets_.size()));
        if (is_new) sets_.push_back(set);
        key.push_back(place->second);
    }
    products_.push_back(std::move(key));
}

int64_t ElementSet::count() const {
    if (products_.empty()) return 0;
    std::vector<std::vector<int>> products = products_;
    std::ranges::sort(products);
    products.erase(std::unique(products.begin(), products.end()), products.end());
    ElementSet distinct(rank_);
    for (size_t axis = 0; axis < rank_; ++axis) {
        int64_t stride = 1;
        for (const auto& product : products)
            stride = std::lcm(stride, sets_[static_cast<size_t>(product[axis])].stride());
        if (stride >= kLargestStride)
            throw Error("facts", "",
                        fmt::format("the accesses of one axis have a common stride of {}", stride),
                        "give the definition smaller factors");
        std::map<int, int> renamed;
        for (auto& product : products) {
            const auto [place, is_new] =
                renamed.emplace(product[axis], static_cast<int>(distinct.sets_.size()));
            const IntegerSet& set = sets_[static_cast<size_t>(product[axis])];
            if (is_new) distinct.sets_.push_back(stride == 1 ? set : set.by_residue(stride));
            product[axis] = place->second;
        }
    }
    distinct.products_ = std::move(products);
    std::vector<int> alive(distinct.products_.size());
    for (size_t i = 0; i < alive.size(); ++i) alive[i] = static_cast<int>(i);
    std::vector<size_t> axes(rank_);
    for (size_t i = 0; i < rank_; ++i) axes[i] = i;
    return UnionCount(distinct).count(std::move(alive), std::move(axes));
}

std::optional<std::vector<Range>> ElementSet::bounding_box() const {
    if (products_.empty()) return std::nullopt;
    std::vector<Range> box(rank_);
    for (size_t axis = 0; axis < rank_; ++axis) {
        const auto set_of = [&](size_t p) -> const IntegerSet& {
            return sets_[static_cast<size_t>(products_[p][axis])];
        };
        box[axis] = {set_of(0).min(), set_of(0).max() + 1};
        for (size_t p = 1; p < products_.size(); ++p) {
            box[axis].first = std::min(box[axis].first, set_of(p).min());
            box[axis].last = std::max(box[axis].last, set_of(p).max() + 1);
        }
    }
    return box;
}

}  // namespace tessera::facts
