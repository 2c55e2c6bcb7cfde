#pragma once

#include <vector>

#include "ir/facts/affine.h"

/// Splitting variables into aligned digits, so that div and mod of them become affine.
namespace tessera::facts {

/// Forms over a space of their own.
struct Component {
    Space space;
    std::vector<Form> forms;
};

/// The same values as a union of boxes: in each, every variable that stands in a div or mod is split into
/// digits of the divisors, x = 32 x2 + 4 x1 + x0 for `x div 4 mod 8`; a range that does not start and end at
/// a multiple falls into several boxes.
/// @pre the forms are not simplified yet (raw), so that each divisor is seen
std::vector<Component> split_into_digits(const Component& component);

/// Joins variables that stand everywhere in the same proportion, n a + b with n no larger than the extent of
/// b, into one that runs through an interval: `(64 a + b) div 7, (64 a + b) mod 7` has one variable. The
/// image stays the same.
Component fuse_variables(Component component);

}  // namespace tessera::facts
