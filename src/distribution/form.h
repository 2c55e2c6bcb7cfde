#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distribution/placement.h"
#include "ir/facts/sbp.h"

/// How a value lies on the devices of a placement (paper 000, figure 4).
namespace tessera::distribution {

using facts::Sbp;

/// One entry for each level, the outermost first: the paper's ND SBP. S(a) cuts axis a of what the outer
/// levels have left into equal parts, so S(a) at two levels nests; under B the devices of a group hold the
/// same, and under P what they hold gives the value if it is folded with the monoid.
using Form = std::vector<Sbp>;

Sbp split(int axis, int64_t grain = 1);
Sbp broadcast();
Sbp partial(Monoid monoid);

/// "[S(0), B]".
std::string text(const Form& form);

/// True if each axis of the shape is divided without rest; if parts may differ by one grain (`kRagged`), if
/// each device holds something.
bool exists(const Form& form, std::span<const int64_t> shape, const Placement& placement,
            facts::Cut cut = facts::Cut::kEvenly);

/// The ranges of the axes that the device with these coordinates holds. @pre the form exists
std::vector<facts::Range> shard(const Form& form, std::span<const int64_t> shape, const Placement& placement,
                                std::span<const int64_t> device);

/// Elements of the largest shard in all elements of the value.
double largest_share(const Form& form, std::span<const int64_t> shape, const Placement& placement);

/// The product of the counts of the levels that cut; one of them may be left out.
int64_t parts(const Form& form, const Placement& placement, int without_level = -1);

}  // namespace tessera::distribution
