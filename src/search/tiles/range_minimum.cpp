// Most functions rise or fall, so that an end of the range has the least value. The others, such as the
// padded size ceil(1500 / m) m, have a tree of minima over pairs, over pairs of pairs, and so on:
//
//         1              node i covers nodes 2i and 2i + 1,
//       2   3            leaf n + k is the minimum of the k-th group of 16 values;
//      4 5 6 7           a range takes at most two nodes of each level, and the rest of two groups
#include "search/tiles/range_minimum.h"

#include <algorithm>
#include <limits>

namespace tessera::tiles {
namespace {

constexpr size_t kGroup = 16;
constexpr double kNothing = std::numeric_limits<double>::infinity();

}  // namespace

RangeMinimum::RangeMinimum(std::vector<double> values) : values_(std::move(values)) {
    if (std::is_sorted(values_.begin(), values_.end())) {
        order_ = Order::kRising;
        return;
    }
    if (std::is_sorted(values_.rbegin(), values_.rend())) {
        order_ = Order::kFalling;
        return;
    }
    const size_t n = (values_.size() + kGroup - 1) / kGroup;
    tree_.assign(2 * n, kNothing);
    for (size_t i = 0; i < values_.size(); ++i)
        tree_[n + i / kGroup] = std::min(tree_[n + i / kGroup], values_[i]);
    for (size_t i = n; i-- > 1;) tree_[i] = std::min(tree_[2 * i], tree_[2 * i + 1]);
}

double RangeMinimum::least(size_t first, size_t last) const {
    if (order_ == Order::kRising) return values_[first];
    if (order_ == Order::kFalling) return values_[last];
    double result = kNothing;
    size_t end = last + 1;
    while (first < end && first % kGroup != 0) result = std::min(result, values_[first++]);
    while (first < end && end % kGroup != 0) result = std::min(result, values_[--end]);
    const size_t n = tree_.size() / 2;
    for (size_t l = first / kGroup + n, r = end / kGroup + n; l < r; l /= 2, r /= 2) {
        if (l % 2 == 1) result = std::min(result, tree_[l++]);
        if (r % 2 == 1) result = std::min(result, tree_[--r]);
    }
    return result;
}

}  // namespace tessera::tiles
