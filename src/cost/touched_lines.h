#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/definition.h"
#include "ir/tensor_type.h"

namespace tessera::cost {

/// The cache lines that boxes of iterations touch of a tensor. Neighbours along the innermost axis of its
/// layout share a line; where they are taken whole, or are shorter than a line, so do those of the axis
/// around it.
class TouchedLines {
public:
    /// Empty if an axis is read at no sum of multiples of iterators.
    /// @param extents of the iterators, at most. @param shape of the tensor
    static std::optional<TouchedLines> of(const std::vector<ExprPtr>& access, std::span<const int64_t> dims,
                                          std::span<const int64_t> extents, const std::vector<int64_t>& shape,
                                          const Layout& layout, double element_bytes);

    /// Bytes of the lines, each counted once. @param extents of the iterators in the box
    double bytes(std::span<const int64_t> extents, int64_t line_bytes) const;

private:
    /// An axis of the layout: what the terms add up to, div `divisor`, mod `extent`.
    struct Axis {
        int64_t extent, divisor;
        std::vector<std::pair<int, int64_t>> terms;  ///< iterators with their coefficients

        int64_t values(std::span<const int64_t> extents) const;  ///< that are taken, at most
        int64_t reach(std::span<const int64_t> extents) const;  ///< from the first to the last, both included
    };

    std::vector<Axis> axes_;  ///< the innermost first
    double element_bytes_ = 1;
};

}  // namespace tessera::cost
