#include "distribution/form.h"

#include <set>

#include <fmt/core.h>

namespace tessera::distribution {

Sbp split(int axis, int64_t grain) {
    return {Sbp::Kind::kSplit, axis, Monoid::kNone, grain};
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
    // For each axis the sizes that the groups have.
    std::vector<std::set<int64_t>> left;
    for (const int64_t extent : shape) left.push_back({extent});
    for (size_t level = 0; level < form.size(); ++level) {
        if (form[level].kind != Sbp::Kind::kSplit) continue;
        const auto axis = static_cast<size_t>(form[level].axis);
        const int64_t count = placement.levels[level].count;
        if (axis >= left.size()) return false;
        std::set<int64_t> sizes;
        for (const int64_t size : left[axis]) {
            if (!facts::can_cut(size, count, cut, form[level].grain)) return false;
            for (const int64_t j : {int64_t{0}, count - 1})
                sizes.insert(facts::part_of({0, size}, count, j, form[level].grain).size());
        }
        left[axis] = std::move(sizes);
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
        range = facts::part_of(range, placement.levels[level].count, device[level], form[level].grain);
    }
    return held;
}

double largest_share(const Form& form, std::span<const int64_t> shape, const Placement& placement) {
    std::vector<int64_t> left(shape.begin(), shape.end());
    double share = 1;
    for (size_t level = 0; level < form.size(); ++level) {
        if (form[level].kind != Sbp::Kind::kSplit) continue;
        int64_t& extent = left[static_cast<size_t>(form[level].axis)];
        const int64_t most = facts::largest_part(extent, placement.levels[level].count, form[level].grain);
        share *= static_cast<double>(most) / static_cast<double>(extent);
        extent = most;
    }
    return share;
}

int64_t parts(const Form& form, const Placement& placement, int without_level) {
    int64_t product = 1;
    for (size_t level = 0; level < form.size(); ++level)
        if (form[level].kind == Sbp::Kind::kSplit && static_cast<int>(level) != without_level)
            product *= placement.levels[level].count;
    return product;
}

}  // namespace tessera::distribution
