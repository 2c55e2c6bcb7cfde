#pragma once

#include <string>

#include "ir/definition.h"

namespace tessera {

/// The place of an integer expression, for errors: `where` with its line, and the name of its owner.
struct ExprPlace {
    std::string where;
    std::string entity;
};

/// An extent, a shape or a fill: integers, dims, and operations that give integers; `i` in a fill.
/// @throws Error naming anything else that stands in it.
void verify_integer_form(const Definition& definition, const ExprPtr& expr, bool is_fill,
                         const ExprPlace& place);

/// A component of a map: a sum of iterators with constant factors and constants, and `div` and `mod` of such
/// by constants; dims are constants, and elements of index operands count as iterators (if `may_read`).
void verify_component(const Definition& definition, const ExprPtr& expr, bool may_read,
                      const ExprPlace& place);

}  // namespace tessera
