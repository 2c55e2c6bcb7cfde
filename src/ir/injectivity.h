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

}  // namespace tessera
