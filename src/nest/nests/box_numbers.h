#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "nest/nests/kernel.h"

namespace tessera::nests {

/// The boxes of a tensor that a buffer has needed. They have numbers, equal ones the same.
class BoxNumbers {
public:
    BoxNumbers() = default;
    BoxNumbers(const Kernel& kernel, int tensor) : kernel_(&kernel), tensor_(tensor) {}

    /// The number of a box; `is_new` says whether it is seen for the first time.
    int number(const Box& box, bool& is_new);

    size_t count() const { return boxes_.size(); }
    const Box& box(int number) const { return *boxes_[static_cast<size_t>(number)]; }
    int64_t bytes(int number) const { return bytes_[static_cast<size_t>(number)]; }
    int64_t largest() const { return largest_; }  ///< bytes

private:
    const Kernel* kernel_ = nullptr;
    int tensor_ = 0;
    std::map<Box, int> numbers_;
    std::vector<const Box*> boxes_;  ///< in `numbers_`, by number
    std::vector<int64_t> bytes_;     ///< of each box
    int64_t largest_ = 0;
};

/// True if all of `inner` lies in `outer`.
bool covers(const Box& outer, const Box& inner);

}  // namespace tessera::nests
