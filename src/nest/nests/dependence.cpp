#include "nest/nests/dependence.h"

namespace tessera::nests {

int64_t Dependence::pass(const Ranges& ranges, size_t depth, int box) {
    int64_t remembered = 0;
    for (uint64_t open = open_; open != 0; open &= open - 1) {
        const auto loop = static_cast<size_t>(std::countr_zero(open));
        if (around_[loop] != ranges.prefix(loop)) {
            seen_[loop].clear();
            around_[loop] = ranges.prefix(loop);
        }
        std::string inner;
        for (size_t i = loop + 1; i < depth; ++i) {
            const int64_t index = ranges.trips()[i].index;
            inner.append(reinterpret_cast<const char*>(&index), sizeof index);
        }
        const auto [first, is_new] = seen_[loop].emplace(std::move(inner), box);
        remembered += is_new;
        if (first->second == box) continue;
        found_ |= uint64_t{1} << loop;
        open_ &= ~(uint64_t{1} << loop);
        seen_[loop] = {};
    }
    return remembered;
}

}  // namespace tessera::nests
