#include "lowering/movement/program_names.h"

#include "support/checked.h"

namespace tessera::movement {

void ProgramNames::leave(size_t mark) {
    for (; declared_.size() > mark; declared_.pop_back()) meanings_.erase(declared_.back());
}

bool ProgramNames::add(const std::string& name, Meaning meaning) {
    if (!meanings_.emplace(name, std::move(meaning)).second) return false;
    declared_.push_back(name);
    return true;
}

bool ProgramNames::add(const LocalTile& tile) {
    const int64_t bytes = checked_mul<int64_t>(tile.elements, sizeof(float)).value_or(0);
    return add(tile.name, Meaning(Storage{ElementType::kF32, true, bytes}));
}

bool ProgramNames::add(const ProgramBuffer& buffer) {
    const int64_t bytes = buffer.worker_stride > 0 ? buffer.worker_stride : buffer.bytes;
    return add(buffer.name, Meaning(Storage{buffer.element, buffer.is_written, bytes}));
}

}  // namespace tessera::movement
