#include "nest/nests/read_box.h"

#include <algorithm>

#include "ir/facts/image.h"

// Interval arithmetic gives the box of nearly every access. Two things are left to facts::image_bounds, which
// counts elements: an interval of which the ends need not be taken, and a coordinate that is cut at the
// border and that shares an iterator with another one:
//
//     X[y + i - 1, x] of [9, 9]    cut at y = 0, i = 0; x is as it was
//     X[s div 4, s mod 4 - 1]      cut at s mod 4 = 0; s div 4 may lose its ends with it

namespace tessera::nests {
namespace {

/// Boxes that are remembered for one access; more are forgotten, so that memory is bounded.
constexpr size_t kMostRemembered = 1 << 14;

uint64_t varying(const facts::IterationBox& ranges) {
    uint64_t iterators = 0;
    for (size_t i = 0; i < ranges.size(); ++i)
        if (ranges[i].size() > 1) iterators |= uint64_t{1} << i;
    return iterators;
}

void widen(Box& box, const Box& by) {
    for (size_t a = 0; a < box.size(); ++a)
        box[a] = {std::min(box[a].first, by[a].first), std::max(box[a].last, by[a].last)};
}

}  // namespace

ReadBox::ReadBox(const facts::BoundDefinition& bound, int tensor, Box made)
    : made_(std::move(made)), is_indirect_axis_(made_.size()) {
    for (const facts::Access& access : facts::accesses_of(bound.definition, tensor)) {
        AccessForm form;
        for (size_t a = 0; a < access.coordinates.size(); ++a) {
            const ExprPtr& coordinate = access.coordinates[a];
            if (is_indirect(coordinate)) {
                is_indirect_axis_[a] = true;
                continue;
            }
            form.axes.push_back(a);
            form.forms.emplace_back(coordinate, bound);
            form.coordinates.push_back(coordinate);
        }
        form.iterators = iterators_in(form.coordinates);
        for (const int i : iterators_in(access.coordinates)) iterators_ |= uint64_t{1} << i;
        const bool is_known = std::ranges::any_of(accesses_, [&](const AccessForm& known) {
            return known.axes == form.axes &&
                   std::ranges::equal(known.coordinates, form.coordinates,
                                      [](const ExprPtr& a, const ExprPtr& b) { return same(a, b); });
        });
        if (!is_known) accesses_.push_back(std::move(form));
    }
}

bool ReadBox::find(const facts::BoundDefinition& bound, const facts::IterationBox& ranges, Counted& counted,
                   Box& box) const {
    counted.resize(accesses_.size());
    bool is_found = false;
    Box one;
    for (size_t i = 0; i < accesses_.size(); ++i) {
        Box& found = is_found ? one : box;
        found = made_;
        if (!find_access(bound, ranges, accesses_[i], counted[i], found)) continue;
        if (is_found) widen(box, one);
        is_found = true;
    }
    for (size_t a = 0; is_found && a < box.size(); ++a)
        if (is_indirect_axis_[a]) box[a] = made_[a];
    return is_found;
}

bool ReadBox::find_access(const facts::BoundDefinition& bound, const facts::IterationBox& ranges,
                          const AccessForm& access, Counted::value_type& counted, Box& box) const {
    if (const auto is_found = find_by_intervals(ranges, access, box)) return *is_found;
    Box key;
    for (const int i : access.iterators) key.push_back(ranges[static_cast<size_t>(i)]);
    auto place = counted.find(key);
    if (place == counted.end()) {
        Box within;
        for (const size_t a : access.axes) within.push_back(made_[a]);
        if (counted.size() >= kMostRemembered) counted.clear();
        place =
            counted.emplace(std::move(key), facts::image_bounds(bound, access.coordinates, ranges, within))
                .first;
    }
    if (!place->second) return false;
    for (size_t a = 0; a < access.axes.size(); ++a) box[access.axes[a]] = (*place->second)[a];
    return true;
}

/// Empty if intervals do not decide it.
std::optional<bool> ReadBox::find_by_intervals(const facts::IterationBox& ranges, const AccessForm& access,
                                               Box& box) const {
    bool is_decided = true;
    for (size_t a = 0; a < access.axes.size(); ++a) {
        const facts::Range made = made_[access.axes[a]];
        const AxisValues values = access.forms[a].over(ranges);
        if (values.last <= made.first || values.first >= made.last) return false;
        facts::Range& range = box[access.axes[a]];
        range = {std::max(values.first, made.first), std::min(values.last, made.last)};
        is_decided = is_decided && values.is_exact;
        if (!is_decided || range.size() == values.last - values.first) continue;
        // Cut: its own values must go on up to the border, and no other coordinate may depend on them.
        const uint64_t own = access.forms[a].iterators() & varying(ranges);
        is_decided = values.is_contiguous;
        for (size_t b = 0; b < access.axes.size(); ++b)
            is_decided = is_decided && (b == a || (access.forms[b].iterators() & own) == 0);
    }
    if (!is_decided) return std::nullopt;
    return true;
}

}  // namespace tessera::nests
