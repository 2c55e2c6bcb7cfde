#include "import/joined_rows.h"

#include <algorithm>

namespace tessera::import {

TensorContents JoinedRows::rows(int64_t first, int64_t last) const {
    const auto all = std::make_shared<std::vector<std::byte>>();
    int64_t before = 0;
    for (const Part& part : parts_) {
        const int64_t begin = std::max(first - before, int64_t{0}), end = std::min(last - before, part.rows);
        before += part.rows;
        if (begin >= end) continue;
        TensorContents some = part.tensor->rows(begin, end);
        if (end - begin == last - first) return some;
        all->insert(all->end(), some.bytes.begin(), some.bytes.end());
    }
    return {.bytes = *all, .owner = all};
}

}  // namespace tessera::import
