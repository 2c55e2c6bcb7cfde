#include "distribution/form.h"

#include <fmt/core.h>

namespace tessera::distribution {

Sbp split(int axis) {
    return {Sbp::Kind::kSplit, axis, Monoid::kNone};
}

Sbp broadcast() {
    return {};
}

Sbp partial(Monoid monoid) {
    return {Sbp::Kind::kPartial, -1, monoid};
}

std::string text(const Form& form) {
    std::string entries;
    for (const Sbp& entry : form)
        entries += fmt::format("{}{}", entries.empty() ? "" : ", ", facts::text(entry));
    return fmt::format("[{}]", entries);
}

bool exists(const Form& form, std::span<const int64_t> shape, const Placement& placement, facts::Cut cut) {
    std::vector<int64_t> left(shape.begin(), shape.end());
    for (size_t level = 0; level < form.size(); ++level) {
        if (form[level].kind != Sbp::Kind::kSplit) continue;
        const auto axis = static_cast<size_t>(form[level].axis);
        const int64_t count = placement.levels[level].count;
        if (axis >= left.size() || left[axis] < count) return false;
        if (cut == facts::Cut::kEvenly && left[axis] % count != 0) return false;
        left[axis] /= count;
    }
    return true;
}

std::vector<facts::Range> shard(const Form& form, std::span<const int64_t> shape, const Placement& placement,
                                std::span<const int64_t> device) {
    std::vector<facts::Range> held;
    for (const int64_t extent : shape) held.push_back({0, extent});
    for (size_t level = 0; level < form.size(); ++level) {
        if (form[level].kind != Sbp::Kind::kSplit) continue;
        facts::Range& range = held[static_cast<size_t>(form[level].axis)];
        range = facts::part_of(range, placement.levels[level].count, device[level]);
    }
    return held;
}

int64_t parts(const Form& form, const Placement& placement, int without_level) {
    int64_t product = 1;
    for (size_t level = 0; level < form.size(); ++level)
        if (form[level].kind == Sbp::Kind::kSplit && static_cast<int>(level) != without_level)
            product *= placement.levels[level].count;
    return product;
}

}  // namespace tessera::distribution
