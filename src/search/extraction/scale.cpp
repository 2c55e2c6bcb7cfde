// Costs arrive as doubles and are compared as integers, so that "equally good" and "proven" mean what they
// say. Three grids are tried, the coarsest first:
//
//   0.001, 1      -> 1, 1000              decimal: the written number, not the double next to it
//   0.75, 0.3125  -> 12, 5                binary: every double is a multiple of a power of two
//   pi, 1e-30     -> rounded              neither fits into 61 bits: nearest multiple, stated in `rounding`
#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/extraction/instance.h"

namespace tessera::extraction {
namespace {

constexpr double kLargestSum = 0x1p61;
constexpr int kDecimalPlaces = 12;
constexpr double kLargestExact = 0x1p53;  // every integer below it is a double

std::optional<std::vector<Weight>> as_decimals(const std::vector<Node>& nodes, double power_of_ten) {
    std::vector<Weight> result;
    double sum = 0;
    for (const Node& node : nodes) {
        const double scaled = std::round(node.cost * power_of_ten);
        // The quotient is rounded correctly: it is the double that the decimal fraction is read as.
        if (std::fabs(scaled) >= kLargestExact || scaled / power_of_ten != node.cost) return std::nullopt;
        if ((sum += std::fabs(scaled)) >= kLargestSum) return std::nullopt;
        result.push_back(static_cast<Weight>(scaled));
    }
    return result;
}

std::optional<std::vector<Weight>> as_multiples(const std::vector<Node>& nodes, int exponent) {
    std::vector<Weight> result;
    double sum = 0;
    for (const Node& node : nodes) {
        const double scaled = std::ldexp(node.cost, -exponent);
        if ((sum += std::fabs(scaled)) >= kLargestSum) return std::nullopt;
        result.push_back(std::llround(scaled));
    }
    return result;
}

/// The largest e so that the value is a multiple of 2^e.
int lowest_exponent(double value) {
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    const auto bits = static_cast<int64_t>(std::ldexp(std::fabs(mantissa), 53));
    return exponent - 53 + __builtin_ctzll(static_cast<unsigned long long>(bits));
}

void divide_by_common_factor(ScaledCosts& scaled) {
    Weight factor = 0;
    for (const Weight cost : scaled.costs) factor = std::gcd(factor, cost);
    if (factor <= 1) return;
    for (Weight& cost : scaled.costs) cost /= factor;
    scaled.unit *= static_cast<double>(factor);
}

}  // namespace

ScaledCosts scale(const std::vector<Node>& nodes) {
    ScaledCosts scaled;
    double power_of_ten = 1;
    for (int places = 0; places <= kDecimalPlaces; ++places, power_of_ten *= 10) {
        if (auto costs = as_decimals(nodes, power_of_ten)) {
            scaled = {std::move(*costs), 1 / power_of_ten, 0};
            divide_by_common_factor(scaled);
            return scaled;
        }
    }
    int exponent = std::numeric_limits<int>::max();
    long double sum = 0;
    for (const Node& node : nodes) {
        if (node.cost != 0) exponent = std::min(exponent, lowest_exponent(node.cost));
        sum += std::fabs(static_cast<long double>(node.cost));
    }
    if (auto costs = as_multiples(nodes, exponent)) {
        scaled = {std::move(*costs), std::ldexp(1.0, exponent), 0};
        divide_by_common_factor(scaled);
        return scaled;
    }
    int magnitude = 0;
    std::frexp(sum, &magnitude);
    exponent = magnitude - 53;
    // Rounding to nearest adds at most half a unit for each node, far below the distance to 2^61.
    scaled = {*as_multiples(nodes, exponent), std::ldexp(1.0, exponent), std::ldexp(0.5, exponent)};
    divide_by_common_factor(scaled);
    return scaled;
}

}  // namespace tessera::extraction
