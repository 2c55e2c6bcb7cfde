#include "chip/partition/held_numbers.h"

#include <algorithm>
#include <iterator>

#include "support/error.h"

namespace tessera::partition {

void HeldNumbers::drop(const Elements& elements) {
    for (const facts::Range& range : elements.ranges()) {
        auto run = runs_.upper_bound(range.first);
        if (run != runs_.begin()) --run;
        while (run != runs_.end() && run->first < range.last) {
            const int64_t first = run->first, last = first + std::ssize(run->second);
            if (last <= range.first) {
                ++run;
                continue;
            }
            const std::vector<double> numbers = std::move(run->second);
            run = runs_.erase(run);
            count_ -= last - first;
            const auto keep = [&](int64_t from, int64_t to) {
                if (from >= to) return;
                runs_.emplace(from, std::vector<double>(numbers.begin() + (from - first),
                                                        numbers.begin() + (to - first)));
                count_ += to - from;
            };
            keep(first, range.first);
            keep(range.last, last);
        }
    }
}

void HeldNumbers::put(const Elements& elements, const std::vector<double>& numbers) {
    TESSERA_CHECK(std::ssize(numbers) == elements.size(), "{} numbers for {} elements", numbers.size(),
                  elements.size());
    drop(elements);
    auto next = numbers.begin();
    for (const facts::Range& range : elements.ranges()) {
        runs_.emplace(range.first, std::vector<double>(next, next + range.size()));
        next += range.size();
    }
    count_ += elements.size();
}

Elements HeldNumbers::elements() const {
    std::vector<facts::Range> ranges;
    for (const auto& [first, numbers] : runs_) ranges.push_back({first, first + std::ssize(numbers)});
    return Elements::of_ranges(std::move(ranges));
}

std::vector<double> HeldNumbers::numbers(const Elements& elements) const {
    std::vector<double> result;
    result.reserve(static_cast<size_t>(elements.size()));
    for (const facts::Range& range : elements.ranges())
        for (int64_t at = range.first; at < range.last;) {
            const auto run = std::prev(runs_.upper_bound(at));
            const int64_t last = std::min(range.last, run->first + std::ssize(run->second));
            TESSERA_CHECK(run->first <= at && at < last, "element {} is not there", at);
            result.insert(result.end(), run->second.begin() + (at - run->first),
                          run->second.begin() + (last - run->first));
            at = last;
        }
    return result;
}

void HeldNumbers::copy_to(std::vector<double>& whole, std::vector<bool>& is_there) const {
    for (const auto& [first, numbers] : runs_) {
        std::copy(numbers.begin(), numbers.end(), whole.begin() + first);
        std::fill_n(is_there.begin() + first, numbers.size(), true);
    }
}

}  // namespace tessera::partition
