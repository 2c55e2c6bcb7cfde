#include "ir/tensor_type.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "support/error.h"

// The physical axes of [10, 6] with order [1, 0] and lanes <0:4, 0:2>:
//
//     x[1]  (x[0] div 8)  (x[0] div 2 mod 4)  (x[0] mod 2)
//      6         2                4                 2          96 elements are stored, 60 are the tensor's
//
// The lanes of one axis divide it from the innermost lane outwards, so that a lane's divisor is the product
// of the factors of the later lanes of its axis.

namespace tessera {
namespace {

std::vector<int> outer_order(const Layout& layout, size_t rank) {
    if (!layout.order.empty()) return layout.order;
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

int64_t ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

}  // namespace

bool Layout::is_row_major() const {
    return lanes.empty() && std::is_sorted(order.begin(), order.end());
}

std::vector<PhysicalAxis> physical_axes(const Layout& layout, const std::vector<int64_t>& shape) {
    std::vector<int64_t> below(shape.size(), 1);  // product of the lanes of each axis that are further in
    std::vector<PhysicalAxis> axes;
    for (auto lane = layout.lanes.rbegin(); lane != layout.lanes.rend(); ++lane) {
        int64_t& divisor = below[static_cast<size_t>(lane->axis)];
        axes.push_back({.axis = lane->axis, .divisor = divisor, .is_outer = false, .extent = lane->factor});
        divisor *= lane->factor;
    }
    const std::vector<int> order = outer_order(layout, shape.size());
    for (auto outer = order.rbegin(); outer != order.rend(); ++outer) {
        const auto axis = static_cast<size_t>(*outer);
        axes.push_back({.axis = *outer,
                        .divisor = below[axis],
                        .is_outer = true,
                        .extent = ceil_div(shape[axis], below[axis])});
    }
    std::reverse(axes.begin(), axes.end());
    return axes;
}

int64_t stored_elements(const Layout& layout, const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const PhysicalAxis& axis : physical_axes(layout, shape)) count *= axis.extent;
    return count;
}

int64_t offset_of(const Layout& layout, const std::vector<int64_t>& shape,
                  const std::vector<int64_t>& coordinates) {
    TESSERA_CHECK(coordinates.size() == shape.size(), "{} coordinates of {} axes", coordinates.size(),
                  shape.size());
    int64_t offset = 0;
    for (const PhysicalAxis& axis : physical_axes(layout, shape)) {
        const int64_t group = coordinates[static_cast<size_t>(axis.axis)] / axis.divisor;
        offset = offset * axis.extent + (axis.is_outer ? group : group % axis.extent);
    }
    return offset;
}

Layout simplified(const Layout& layout, const std::vector<Dim>& shape) {
    // Constant extents stand in for symbolic ones: their lanes divide nothing for certain.
    std::vector<int64_t> extents;
    for (const Dim& dim : shape) extents.push_back(dim.factor);
    std::vector<PhysicalAxis> axes = physical_axes(layout, extents);
    for (size_t i = 0; i + 1 < axes.size();) {
        const PhysicalAxis &outer = axes[i], &inner = axes[i + 1];
        const bool is_one = outer.axis == inner.axis && outer.divisor == inner.divisor * inner.extent;
        const auto axis = static_cast<size_t>(outer.axis);
        const bool is_padded = outer.is_outer && extents[axis] % outer.divisor != 0;
        if (!is_one || is_padded) {
            ++i;
            continue;
        }
        axes[i] = {outer.axis, inner.divisor, outer.is_outer, outer.extent * inner.extent};
        axes.erase(axes.begin() + static_cast<ptrdiff_t>(i) + 1);
    }
    Layout result;
    for (const PhysicalAxis& axis : axes) {
        if (axis.is_outer)
            result.order.push_back(axis.axis);
        else
            result.lanes.push_back({axis.axis, axis.extent});
    }
    if (std::is_sorted(result.order.begin(), result.order.end())) result.order.clear();
    return result;
}

std::string why_illegal(const Layout& layout, size_t rank) {
    if (!layout.order.empty()) {
        std::vector<int> sorted = layout.order;
        std::sort(sorted.begin(), sorted.end());
        if (sorted != outer_order({}, rank))
            return fmt::format("order [{}] is no permutation of the {} axes", fmt::join(layout.order, ", "),
                               rank);
    }
    // Padding never multiplies the size of a tensor by more than this, and no product overflows.
    constexpr int64_t kMostLanes = int64_t{1} << 20;
    int64_t product = 1;
    for (const Lane& lane : layout.lanes) {
        if (lane.axis < 0 || static_cast<size_t>(lane.axis) >= rank)
            return fmt::format("lane {}:{} names no axis of {}", lane.axis, lane.factor, rank);
        if (lane.factor < 2) return fmt::format("lane {}:{} has a factor below 2", lane.axis, lane.factor);
        if (lane.factor > kMostLanes / product)
            return fmt::format("the lanes hold more than {} elements", kMostLanes);
        product *= lane.factor;
    }
    return {};
}

std::string print(const Layout& layout) {
    std::string text;
    if (!layout.order.empty()) text = fmt::format("order [{}]", fmt::join(layout.order, ", "));
    if (!layout.lanes.empty()) {
        text += text.empty() ? "lanes <" : " lanes <";
        for (size_t i = 0; i < layout.lanes.size(); ++i)
            text += fmt::format("{}{}:{}", i == 0 ? "" : ", ", layout.lanes[i].axis, layout.lanes[i].factor);
        text += ">";
    }
    return text.empty() ? "row-major" : text;
}

}  // namespace tessera
