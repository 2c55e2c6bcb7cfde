#include "support/plot/ticks.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace tessera::plot {

std::vector<double> ticks(double low, double high, int wanted) {
    if (!std::isfinite(low) || !std::isfinite(high) || low > high) return ticks(0, 1, wanted);
    if (low == high) {
        // One number: an axis from 0 to it, or around 0.
        if (low == 0) return ticks(0, 1, wanted);
        return low > 0 ? ticks(0, high, wanted) : ticks(low, 0, wanted);
    }
    const double rough = (high - low) / std::max(1, wanted);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    // A rounding error of the quotient makes no further tick.
    constexpr double kRounding = 1e-9;
    const double first = std::floor(low / step + kRounding), last = std::ceil(high / step - kRounding);
    std::vector<double> result;
    for (double k = first; k <= last; ++k) result.push_back(k * step);
    return result;
}

std::string tick_text(double number) {
    return fmt::format("{:.6g}", number == 0 ? 0 : number);
}

}  // namespace tessera::plot
