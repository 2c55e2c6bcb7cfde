#pragma once

#include <functional>
#include <vector>

#include "compiler/measure/options.h"

namespace tessera::measure {

/// One measurement: seconds for one unit of its work.
using Sample = std::function<double()>;

/// Takes the samples of all cases in turns, so that a temporary disturbance affects all alike: first one of
/// each, then the next of each. Each case runs once before, which counts only where `is_over` leaves it no
/// other sample. The samples of each case, ascending; none where it was over before.
std::vector<std::vector<double>> samples_in_turns(const std::vector<Sample>& cases,
                                                  const MeasureOptions& options);

/// The lower quartile of each case: other load on the machine only ever makes it slower, sometimes for more
/// than half of the time. Infinity where there is no sample.
std::vector<double> quartiles_in_turns(const std::vector<Sample>& cases, const MeasureOptions& options);

/// Calls `work(n)`, which takes seconds, with an n that grows until it takes `seconds`; the seconds of one of
/// the n. The next sample begins with the n of the last one.
Sample repeated(std::function<double(int64_t calls)> work, double seconds);

/// With two significant digits. @pre value > 0
double two_digits(double value);
/// With three. @pre value > 0
double three_digits(double value);

}  // namespace tessera::measure
