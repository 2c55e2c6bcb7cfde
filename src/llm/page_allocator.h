#pragma once

#include <cstdint>
#include <vector>

#include "support/error.h"

namespace tessera::llm {

/// Pages of a cache, by number. The page that was freed last is given first: it is the likeliest to be in a
/// near memory.
class PageAllocator {
public:
    explicit PageAllocator(int64_t pages) {
        for (int64_t page = pages; page > 0; --page) free_.push_back(static_cast<int32_t>(page - 1));
    }

    int64_t available() const { return static_cast<int64_t>(free_.size()); }
    /// @pre available() > 0
    int32_t allocate() {
        TESSERA_CHECK(!free_.empty());
        const int32_t page = free_.back();
        free_.pop_back();
        return page;
    }
    void release(int32_t page) { free_.push_back(page); }

private:
    std::vector<int32_t> free_;
};

}  // namespace tessera::llm
