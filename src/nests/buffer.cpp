#include "nests/buffer.h"

#include <algorithm>

#include "ir/checked_arithmetic.h"

namespace tessera::nests {

std::string_view name(BufferRole role) {
    switch (role) {
        case BufferRole::kRead:
            return "read";
        case BufferRole::kKept:
            return "kept";
        case BufferRole::kWritten:
            break;
    }
    return "written";
}

int Buffer::number(const Box& box, bool& is_new) {
    const auto place = numbers_.lower_bound(box);
    is_new = place == numbers_.end() || place->first != box;
    if (!is_new) return place->second;
    const int number = static_cast<int>(bytes_.size());
    boxes_.push_back(&numbers_.emplace_hint(place, box, number)->first);
    bytes_.push_back(kernel_->bytes(tensor_, box));
    stored_in_.push_back(0);
    largest_ = std::max(largest_, bytes_.back());
    return number;
}

void Buffer::begin_unit() {
    ++unit_;
    held_ = -1;
}

void Buffer::read(int box) {
    if (box < 0 || box == held_) return;
    move(loads_, box);
    held_ = box;
}

void Buffer::make(int box, bool begins) {
    if (box == held_) return;
    if (role_ == BufferRole::kWritten) {
        if (held_ >= 0) store();
        if (stored_in_[static_cast<size_t>(box)] == unit_ && !begins) move(reloads_, box);
    }
    held_ = box;
}

void Buffer::end_unit() {
    if (role_ == BufferRole::kWritten && held_ >= 0) store();
}

bool Buffer::holds(const Box& box) const {
    if (held_ < 0) return false;
    const Box& held = *boxes_[static_cast<size_t>(held_)];
    for (size_t a = 0; a < box.size(); ++a)
        if (box[a].first < held[a].first || box[a].last > held[a].last) return false;
    return true;
}

std::vector<Box> Buffer::stored_boxes() const {
    std::vector<Box> boxes;
    for (const auto& [box, number] : numbers_)
        if (stored_in_[static_cast<size_t>(number)] > 0) boxes.push_back(box);
    return boxes;
}

void Buffer::move(Transfers& transfers, int box) const {
    ++transfers.count;
    transfers.bytes = checked_add(transfers.bytes, bytes_[static_cast<size_t>(box)], kernel_->where);
}

void Buffer::store() {
    move(stores_, held_);
    stored_in_[static_cast<size_t>(held_)] = unit_;
}

}  // namespace tessera::nests
