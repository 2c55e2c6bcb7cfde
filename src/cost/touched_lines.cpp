#include "cost/touched_lines.h"

#include <algorithm>
#include <cstdlib>

#include "ir/quasi_affine.h"

namespace tessera::cost {

std::optional<TouchedLines> TouchedLines::of(const std::vector<ExprPtr>& access,
                                             std::span<const int64_t> dims, std::span<const int64_t> extents,
                                             const std::vector<int64_t>& shape, const Layout& layout,
                                             double element_bytes) {
    TouchedLines lines;
    lines.element_bytes_ = element_bytes;
    const std::vector<PhysicalAxis> axes = physical_axes(layout, shape);
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
        const ExprPtr& component = access[static_cast<size_t>(axis->axis)];
        if (is_indirect(component)) return std::nullopt;
        Axis known{.extent = axis->extent, .divisor = axis->divisor, .terms = {}};
        for (const QuasiTerm& term : quasi_affine(component, dims, extents, "access").terms) {
            if (term.atom.kind != QuasiAtom::Kind::kIterator) return std::nullopt;
            known.terms.emplace_back(term.atom.iterator, std::abs(term.coefficient));
        }
        lines.axes_.push_back(std::move(known));
    }
    return lines;
}

int64_t TouchedLines::Axis::values(std::span<const int64_t> extents) const {
    int64_t points = 1;
    for (const auto& [x, coefficient] : terms) points *= extents[static_cast<size_t>(x)];
    return std::min(points, reach(extents));
}

int64_t TouchedLines::Axis::reach(std::span<const int64_t> extents) const {
    int64_t last = 0;
    for (const auto& [x, coefficient] : terms) last += coefficient * (extents[static_cast<size_t>(x)] - 1);
    return std::min(extent, last / divisor + 1);
}

double TouchedLines::bytes(std::span<const int64_t> extents, int64_t line_bytes) const {
    const auto line = static_cast<double>(line_bytes);
    double run = element_bytes_;     // from the first to the last byte of a piece
    double stride = element_bytes_;  // between neighbours along the axis
    double pieces = 1;
    for (const Axis& axis : axes_) {
        const auto reach = static_cast<double>(axis.reach(extents));
        if (pieces == 1 && (run == stride || stride <= line))
            run += (reach - 1) * stride;
        else
            pieces *= static_cast<double>(axis.values(extents));
        stride *= static_cast<double>(axis.extent);
    }
    return pieces * std::max(line, run);
}

}  // namespace tessera::cost
