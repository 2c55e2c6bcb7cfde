#pragma once

#include <string>
#include <vector>

namespace tessera::plot {

/// The numbers at an axis: multiples of 1, 2 or 5 times a power of ten, of which the first is at most `low`
/// and the last at least `high`, about `wanted` of them and at least two. If a limit is not finite, or `low`
/// lies above `high`, the axis goes from 0 to 1.
std::vector<double> ticks(double low, double high, int wanted = 5);

/// A number as one writes it at an axis: "0.25", "1500", "2e+07".
std::string tick_text(double number);

}  // namespace tessera::plot
