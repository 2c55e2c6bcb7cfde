#include "nest/nests/buffer.h"

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
        stored_in_.resize(boxes_.count());
        if (stored_in_[static_cast<size_t>(box)] == unit_ && !begins) move(reloads_, box);
    }
    held_ = box;
}

void Buffer::end_unit() {
    if (role_ == BufferRole::kWritten && held_ >= 0) store();
}

bool Buffer::holds(const Box& box) const {
    return held_ >= 0 && covers(boxes_.box(held_), box);
}

std::vector<Box> Buffer::stored_boxes() const {
    std::vector<Box> boxes;
    for (size_t number = 0; number < stored_in_.size(); ++number)
        if (stored_in_[number] > 0) boxes.push_back(boxes_.box(static_cast<int>(number)));
    return boxes;
}

void Buffer::move(Transfers& transfers, int box) const {
    ++transfers.count;
    transfers.bytes = checked_add(transfers.bytes, boxes_.bytes(box), kernel_->where);
}

void Buffer::store() {
    move(stores_, held_);
    stored_in_[static_cast<size_t>(held_)] = unit_;
}

}  // namespace tessera::nests
