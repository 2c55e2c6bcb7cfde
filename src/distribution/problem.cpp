#include "distribution/problem.h"

namespace tessera::distribution {

int64_t Value::bits() const {
    int64_t elements = 1;
    for (const int64_t extent : shape) elements *= extent;
    return elements * tessera::bits(type);
}

// Under a level that shares memory, S and B are one copy, and each device has its own P.
int64_t Problem::units(const Value& value, const Form& form) const {
    int64_t units = value.held_bits.value_or(value.bits()) * placement.domains();
    std::vector<int64_t> left = value.shape;
    for (size_t level = 0; level < form.size(); ++level) {
        const Level& at = placement.levels[level];
        if (at.shares_memory) {
            if (form[level].kind == Sbp::Kind::kPartial) units *= at.count;
            continue;
        }
        if (form[level].kind != Sbp::Kind::kSplit) continue;
        if (cut == facts::Cut::kEvenly) {
            units /= at.count;
            continue;
        }
        // The first part is the largest; units are whole since the limit is one of bytes.
        int64_t& extent = left[static_cast<size_t>(form[level].axis)];
        const int64_t most = facts::largest_part(extent, at.count, form[level].grain);
        units = (units / extent + (units % extent != 0 ? 1 : 0)) * most;
        extent = most;
    }
    return units;
}

}  // namespace tessera::distribution
