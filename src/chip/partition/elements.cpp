#include "chip/partition/elements.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "ir/facts/image.h"
#include "support/error.h"

namespace tessera::partition {
namespace {

using facts::IntegerSet;
using facts::Range;

/// The values of a set, whatever its stride.
template <typename Visit>
void for_each_value(const IntegerSet& set, const Visit& visit) {
    const int64_t residue = set.min() - set.stride() * set.ranges().front().first;
    for (const Range& range : set.ranges())
        for (int64_t v = range.first; v < range.last; ++v) visit(set.stride() * v + residue);
}

/// Adds the row-major positions of a product of sets, those of the last axis as ranges.
void add_product(const std::vector<IntegerSet>& product, const std::vector<int64_t>& shape, size_t axis,
                 int64_t before, std::vector<Range>& positions) {
    if (axis == shape.size()) {
        positions.push_back({before, before + 1});
        return;
    }
    const int64_t first = before * shape[axis];
    if (axis + 1 == shape.size() && product[axis].stride() == 1) {
        for (const Range& range : product[axis].ranges())
            positions.push_back({first + range.first, first + range.last});
        return;
    }
    for_each_value(product[axis],
                   [&](int64_t at) { add_product(product, shape, axis + 1, first + at, positions); });
}

}  // namespace

int64_t element_count(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return count;
}

Elements elements_of(const facts::BoundDefinition& bound, size_t tensor, const facts::IterationBox& box) {
    const std::vector<int64_t>& shape = bound.shape(static_cast<int>(tensor));
    const std::vector<Range> within = facts::ranges_of(shape);
    std::vector<Range> positions;
    for (const facts::Access& access : facts::accesses_of(bound.definition, static_cast<int>(tensor)))
        facts::for_each_product(
            bound, access.coordinates, box, within, [&](const std::vector<IntegerSet>& product) {
                add_product(product, shape, 0, 0, positions);
                if (positions.size() > kMostElements)
                    throw Error(bound.where, bound.tensor(static_cast<int>(tensor)).name,
                                fmt::format("is touched in more than {} pieces", kMostElements),
                                "take a smaller graph");
                return true;
            });
    return Elements::of_ranges(std::move(positions));
}

Elements common(const Elements& a, const Elements& b) {
    std::vector<Range> both;
    for (size_t i = 0, j = 0; i < a.ranges().size() && j < b.ranges().size();) {
        const Range &x = a.ranges()[i], &y = b.ranges()[j];
        const Range shared{std::max(x.first, y.first), std::min(x.last, y.last)};
        if (!shared.empty()) both.push_back(shared);
        (x.last < y.last ? i : j) += 1;
    }
    return Elements::of_ranges(std::move(both));
}

Elements without(const Elements& a, const Elements& b) {
    std::vector<Range> rest;
    size_t j = 0;
    for (Range x : a.ranges()) {
        while (j < b.ranges().size() && b.ranges()[j].last <= x.first) ++j;
        for (size_t k = j; k < b.ranges().size() && b.ranges()[k].first < x.last; ++k) {
            if (x.first < b.ranges()[k].first) rest.push_back({x.first, b.ranges()[k].first});
            x.first = std::max(x.first, b.ranges()[k].last);
        }
        if (!x.empty()) rest.push_back(x);
    }
    return Elements::of_ranges(std::move(rest));
}

Elements numbered(const Elements& set, int64_t first, int64_t last) {
    std::vector<Range> some;
    int64_t before = 0;
    for (const Range& range : set.ranges()) {
        const Range own{range.first + std::max<int64_t>(0, first - before),
                        range.first + std::min(range.size(), last - before)};
        if (!own.empty()) some.push_back(own);
        before += range.size();
    }
    return Elements::of_ranges(std::move(some));
}

Elements even_part(const Elements& set, int64_t parts, int64_t j) {
    const int64_t size = set.size();
    return numbered(set, size * j / parts, size * (j + 1) / parts);
}

}  // namespace tessera::partition
