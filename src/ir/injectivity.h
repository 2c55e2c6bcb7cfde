#pragma once

#include <string>

#include "ir/body_value.h"

namespace tessera {

/// Whether two iterations of the box may store to one element of the result.
enum class StoreCollision : uint8_t {
    kNone,     ///< proven: the map is injective
    kFound,    ///< two executed iterations write one element; `BodyValue::iterators` is at the second
    kUnknown,  ///< not proven, and none found where the search went
};

/// Decides it from the form of the map, if need be by enumerating the box, or a part of it where it is huge.
/// `point` holds the contents of index operands and of operands that the predicate reads.
/// @pre writes are in range
StoreCollision find_store_collision(const Definition& definition, const BoundExtents& extents,
                                    BodyValue& point, const std::string& where);

/// A fold whose elements no reduction iterator chooses: compiled code sets each one that it can reach, also
/// where the predicate never holds.
bool sets_all_elements(const Definition& definition);

/// What decides where a fold stores: its definition and its box without the reduction iterators. Two
/// iterations of it that meet would have to be folded together though no iterator says so, which compiled
/// code does not do. `softmax_sum`: of its last result, which uses all parallel iterators. A predicate is
/// left out if it is of reduction iterators, or if the fold sets elements whatever it says. For a map it is
/// the map itself.
struct StoredPart {
    Definition definition;
    BoundExtents extents;
};
StoredPart stored_part(const Definition& definition, const BoundExtents& extents);

}  // namespace tessera
