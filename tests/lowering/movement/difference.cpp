#include "lowering/movement/difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace tessera::testing {
namespace {

constexpr double kNotANumber = 1e30;

double largest_of(std::span<const double> values) {
    double largest = 0;
    for (const double v : values) {
        if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    }
    return largest;
}

double range_of(std::span<const double> values, double smallest) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double v : values) {
        if (!std::isfinite(v)) continue;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    return std::max({high - low, std::abs(high), smallest});
}

void compare(const TensorData& got, const TensorData& expected, const std::string& name, double smallest,
             Difference& worst) {
    const double range = range_of(expected.values, smallest);
    const size_t width = expected.shape.empty() ? 1 : static_cast<size_t>(expected.shape.back());
    for (size_t begin = 0; begin < expected.values.size(); begin += width) {
        // Rows of small numbers are remainders of larger ones.
        const double row =
            std::max({largest_of(std::span(expected.values).subspan(begin, width)), range / 100, smallest});
        for (size_t i = begin; i < begin + width; ++i) {
            const double a = got.values[i], b = expected.values[i];
            if (a == b || (std::isnan(a) && std::isnan(b))) continue;
            const double error = std::abs(a - b) < kNotANumber ? std::abs(a - b) : kNotANumber;
            const auto where = [&] { return fmt::format("{} element {}: {} instead of {}", name, i, a, b); };
            if (error / range > worst.relative) {
                worst.relative = error / range;
                worst.where = where();
            }
            if (error / row > worst.of_row) {
                worst.of_row = error / row;
                worst.where_in_row = where();
            }
        }
    }
}

}  // namespace

Difference difference(const GraphResult& got, const GraphResult& expected, double smallest) {
    Difference worst;
    for (size_t o = 0; o < expected.outputs.size(); ++o)
        compare(got.outputs[o], expected.outputs[o], fmt::format("output {}", o), smallest, worst);
    for (const auto& [name, repetitions] : expected.states) {
        for (size_t r = 0; r < repetitions.size(); ++r)
            compare(got.states.at(name)[r], repetitions[r], name, smallest, worst);
    }
    return worst;
}

}  // namespace tessera::testing
