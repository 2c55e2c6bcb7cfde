#pragma once

#include <string>

#include "ir/body_value.h"

namespace tessera {

/// The answer to the question: can two iterations of the box store to one element of the result?
enum class StoreCollision : uint8_t {
    kNone,     ///< proven: the map is injective
    kFound,    ///< two executed iterations write one element; `BodyValue::iterators` is at the second
    kUnknown,  ///< not proven, and none found in the part that was searched
};

/// Decides it from the form of the map, or if need be by enumerating the box, or a part of a huge one.
/// `point` holds the contents of index operands and of operands that the predicate reads.
/// @pre writes are in range
StoreCollision find_store_collision(const Definition& definition, const BoundExtents& extents,
                                    BodyValue& point, const std::string& where);

/// True for a fold whose map uses no reduction iterator: compiled code sets each element that it can reach,
/// even where the predicate never holds.
bool sets_all_elements(const Definition& definition);

/// The part of a definition that decides where it stores: for a fold, the definition and its box without the
/// reduction iterators. If two of its iterations meet, no iterator tells to fold them together, and compiled
/// code does not. For `softmax_sum`, only the last result, which uses all parallel iterators. A predicate is
/// left out if it uses reduction iterators, or if the fold sets elements regardless. A map is kept whole.
struct StoredPart {
    Definition definition;
    BoundExtents extents;
};
StoredPart stored_part(const Definition& definition, const BoundExtents& extents);

}  // namespace tessera
