#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/facts/integer_set.h"

/// The elements that accesses reach: exact counts and bounding boxes of images of boxes under access maps.
namespace tessera::facts {

/// A union of products of integer sets, one for each axis.
class ElementSet {
public:
    explicit ElementSet(size_t rank) : rank_(rank) {}
    size_t rank() const { return rank_; }

    void add(const std::vector<IntegerSet>& product);
    bool empty() const { return products_.empty(); }
    /// Distinct elements. @throws Error if the products overlap in more ways than kOverlapLimit.
    int64_t count() const;
    /// The bounding box, one range for each axis; none if the set is empty.
    std::optional<std::vector<Range>> bounding_box() const;

private:
    friend class UnionCount;
    size_t rank_;
    std::vector<IntegerSet> sets_;            ///< each distinct one once
    std::map<IntegerSet, int> positions_;     ///< in sets_
    std::vector<std::vector<int>> products_;  ///< positions in sets_, for each axis
};

/// Adds the coordinates that these components take over the box, and that lie within `shape`.
/// A component that reads an index operand of unknown contents takes every coordinate within its axis.
/// If the set has fewer axes than there are components, the further ones only restrict which iterations
/// count.
/// @throws Error for an out-of-range read of an index operand, and beyond the enumeration limit.
void add_image(ElementSet& elements, const BoundDefinition& bound, const std::vector<ExprPtr>& components,
               const IterationBox& box, std::span<const Range> within);

/// Calls visit(product) for products of sets, one for each component, whose union is that image, until it
/// returns false.
void for_each_product(const BoundDefinition& bound, const std::vector<ExprPtr>& components,
                      const IterationBox& box, std::span<const Range> within,
                      const std::function<bool(const std::vector<IntegerSet>&)>& visit);

/// The bounding box of that image, without keeping it.
std::optional<std::vector<Range>> image_bounds(const BoundDefinition& bound,
                                               const std::vector<ExprPtr>& components,
                                               const IterationBox& box, std::span<const Range> within);

/// [0, extent) for each axis.
std::vector<Range> ranges_of(std::span<const int64_t> shape);

/// Steps that counting a union may take.
inline constexpr int64_t kOverlapLimit = int64_t{1} << 28;

}  // namespace tessera::facts
