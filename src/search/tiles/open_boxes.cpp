#include "search/tiles/open_boxes.h"

#include <algorithm>
#include <utility>

namespace tessera::tiles {
namespace {

// A box of 64 variables takes half a kilobyte.
constexpr size_t kMostInHeap = 200'000;

bool is_after(const OpenBox& a, const OpenBox& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    return a.number < b.number;  // of equal bounds the deeper one
}

}  // namespace

void OpenBoxes::add(OpenBox open) {
    if (!is_ordered_ || heap_.size() >= kMostInHeap) {
        stack_.push_back(std::move(open));
        return;
    }
    heap_.push_back(std::move(open));
    std::push_heap(heap_.begin(), heap_.end(), is_after);
}

std::optional<OpenBox> OpenBoxes::take() {
    std::vector<OpenBox>& from = stack_.empty() ? heap_ : stack_;
    if (from.empty()) return std::nullopt;
    if (stack_.empty()) std::pop_heap(heap_.begin(), heap_.end(), is_after);
    OpenBox open = std::move(from.back());
    from.pop_back();
    return open;
}

void OpenBoxes::order_by_bound() {
    if (is_ordered_) return;
    is_ordered_ = true;
    for (OpenBox& open : std::exchange(stack_, {})) add(std::move(open));
}

double OpenBoxes::bound() const {
    double least = heap_.empty() ? std::numeric_limits<double>::infinity() : heap_.front().bound;
    for (const OpenBox& open : stack_) least = std::min(least, open.bound);
    return least;
}

}  // namespace tessera::tiles
