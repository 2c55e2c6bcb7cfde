#pragma once

#include <cstdint>
#include <vector>

#include "support/error.h"

namespace tessera::llm {

/// Pages of a cache, by number, each with the count of those that use it. The page that was freed last is
/// given first: it is the likeliest to be in a near memory.
class PageAllocator {
public:
    explicit PageAllocator(int64_t pages) : users_(static_cast<size_t>(pages), 0) {
        for (int64_t page = pages; page > 0; --page) free_.push_back(static_cast<int32_t>(page - 1));
    }

    int64_t available() const { return static_cast<int64_t>(free_.size()); }
    /// @pre available() > 0
    int32_t allocate() {
        TESSERA_CHECK(!free_.empty());
        const int32_t page = free_.back();
        free_.pop_back();
        users_[static_cast<size_t>(page)] = 1;
        return page;
    }
    /// Adds a user of the page. @pre it has one
    void share(int32_t page) { ++users_[static_cast<size_t>(page)]; }
    bool is_shared(int32_t page) const { return users_[static_cast<size_t>(page)] > 1; }
    /// Removes a user of the page; the last one frees it.
    void release(int32_t page) {
        if (--users_[static_cast<size_t>(page)] == 0) free_.push_back(page);
    }

private:
    std::vector<int32_t> free_;
    std::vector<int32_t> users_;  ///< by page
};

}  // namespace tessera::llm
