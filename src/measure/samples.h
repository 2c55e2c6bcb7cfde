#pragma once

#include <functional>
#include <vector>

#include "measure/options.h"

namespace tessera {

/// One measurement: seconds for one unit of its work.
using Sample = std::function<double()>;

/// Takes the samples of all cases in turns, so that what disturbs the machine for a while disturbs all alike:
/// first one of each, then the next of each. Each case runs once before, uncounted. The medians, in the order
/// of the cases.
std::vector<double> medians_in_turns(const std::vector<Sample>& cases, const MeasureOptions& options);

/// Calls `work(n)` with growing n until it takes `seconds`, and gives the seconds of one of the n.
double seconds_per_call(const std::function<double(int64_t calls)>& work, double seconds);

/// With two significant digits. @pre value > 0
double two_digits(double value);

}  // namespace tessera
