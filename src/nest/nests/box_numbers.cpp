#include "nest/nests/box_numbers.h"

#include <algorithm>

namespace tessera::nests {

int BoxNumbers::number(const Box& box, bool& is_new) {
    const auto place = numbers_.lower_bound(box);
    is_new = place == numbers_.end() || place->first != box;
    if (!is_new) return place->second;
    const int number = static_cast<int>(bytes_.size());
    boxes_.push_back(&numbers_.emplace_hint(place, box, number)->first);
    bytes_.push_back(kernel_->bytes(tensor_, box));
    largest_ = std::max(largest_, bytes_.back());
    return number;
}

bool covers(const Box& outer, const Box& inner) {
    for (size_t a = 0; a < inner.size(); ++a)
        if (inner[a].first < outer[a].first || inner[a].last > outer[a].last) return false;
    return true;
}

}  // namespace tessera::nests
