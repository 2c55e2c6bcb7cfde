#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/element_type.h"

namespace tessera {

/// An extent of the graph: a constant, or a multiple of a symbol of the graph (16 P cache slots in P pages).
struct Dim {
    int64_t factor = 1;                 ///< the extent itself if there is no symbol
    std::optional<std::string> symbol;  ///< name of a Symbol of the graph

    Dim(int64_t extent) : factor(extent) {}  // NOLINT: a constant extent is a Dim
    Dim(std::string symbol_, int64_t factor_ = 1) : factor(factor_), symbol(std::move(symbol_)) {}
    bool is_constant() const { return !symbol; }
    bool operator==(const Dim&) const = default;
};

/// `factor` consecutive elements of `axis` lie together.
struct Lane {
    int axis;
    int64_t factor;
    bool operator==(const Lane&) const = default;
};

/// How the elements of a tensor lie in memory: first the outer axes in `order`, then the lanes, first lane
/// outermost. An axis may occur in several lanes: B of a matrix unit is `<k16, n16, k2>`, with axis k split
/// as (k div 32, k div 2 mod 16, k mod 2). A ragged axis is padded to a multiple of its lanes' product. The
/// default (empty order, no lanes) is row-major.
struct Layout {
    std::vector<int> order;   ///< permutation of the axes, outermost first; empty: 0, 1, 2, ...
    std::vector<Lane> lanes;  ///< outermost first

    bool is_row_major() const;
    bool operator==(const Layout&) const = default;
};

/// How results may be rounded between operators (docs/types.md, "Policy").
enum class Rounding : uint8_t {
    kExact,    ///< activations stay in F32
    kWeights,  ///< this activation may have the type of the weights that are multiplied with it
};

struct TensorType {
    ElementType element = ElementType::kF32;
    std::vector<Dim> shape;
    Layout layout;
    ElementType accumulator = ElementType::kF32;
    Rounding rounding = Rounding::kExact;

    bool operator==(const TensorType&) const = default;
};

/// One physical axis of a layout, outermost first: coordinate = x[axis] div `divisor` mod `extent` (no mod
/// where `is_outer`, whose extent is the number of lane groups).
struct PhysicalAxis {
    int axis;
    int64_t divisor;
    bool is_outer;
    int64_t extent;  ///< lanes: the factor; outer: ceil(shape / product of the axis' lanes)
};

/// The physical axes of a tensor of this (constant) shape. @pre is_legal(layout, rank).
std::vector<PhysicalAxis> physical_axes(const Layout& layout, const std::vector<int64_t>& shape);
/// Number of elements that are stored, padding included.
int64_t stored_elements(const Layout& layout, const std::vector<int64_t>& shape);
/// Position of an element in memory.
int64_t offset_of(const Layout& layout, const std::vector<int64_t>& shape,
                  const std::vector<int64_t>& coordinates);
/// The layout with the fewest lanes in which every element of a tensor of this shape lies where it does in
/// this one: lanes of 16 along the last axis, which has a multiple of 16 elements, are row-major.
Layout simplified(const Layout& layout, const std::vector<Dim>& shape);
/// Why the layout is not one of a tensor of this rank; empty if it is.
std::string why_illegal(const Layout& layout, size_t rank);

/// "order [1, 0] lanes <1:16, 0:4>"; "row-major".
std::string print(const Layout& layout);

}  // namespace tessera
