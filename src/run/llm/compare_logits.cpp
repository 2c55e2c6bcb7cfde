#include "run/llm/compare_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "support/error.h"

namespace tessera::llm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log(sum of exp(logits)), without overflow.
double log_sum_exp(std::span<const float> logits) {
    const double highest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(logit - highest);
    return highest + std::log(sum);
}

/// Sum of p log(p / q) for the softmax p of `expected` and q of `actual`. Rounding can make it slightly
/// negative.
double divergence(std::span<const float> expected, std::span<const float> actual) {
    const double expected_total = log_sum_exp(expected), actual_total = log_sum_exp(actual);
    double sum = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const double log_p = expected[i] - expected_total, log_q = actual[i] - actual_total;
        sum += std::exp(log_p) * (log_p - log_q);
    }
    if (std::isnan(sum)) return kInfinity;
    return std::max(sum, 0.0);
}

}  // namespace

void LogitsComparison::add(std::span<const float> expected, std::span<const float> actual) {
    TESSERA_CHECK(static_cast<int64_t>(expected.size()) == vocabulary_ && expected.size() == actual.size() &&
                  vocabulary_ > 0);
    const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
    low_ = rows_ == 0 ? *low : std::min<double>(low_, *low);
    high_ = rows_ == 0 ? *high : std::max<double>(high_, *high);
    for (size_t i = 0; i < expected.size(); ++i) {
        double difference = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
        if (std::isnan(difference)) difference = kInfinity;
        if (difference <= worst_difference_) continue;
        worst_difference_ = difference;
        worst_row_ = rows_;
        worst_token_ = static_cast<int64_t>(i);
        worst_expected_ = expected[i];
        worst_actual_ = actual[i];
    }
    const auto top = [](std::span<const float> row) {
        return std::max_element(row.begin(), row.end()) - row.begin();
    };
    if (top(expected) == top(actual)) ++top1_agreements_;
    const double row_divergence = divergence(expected, actual);
    divergence_sum_ += row_divergence;
    worst_divergence_ = std::max(worst_divergence_, row_divergence);
    ++rows_;
}

double LogitsComparison::worst_error() const {
    if (worst_difference_ == 0) return 0;
    return range() == 0 ? kInfinity : worst_difference_ / range();
}

std::string LogitsComparison::worst_element() const {
    return fmt::format("row {}, token {}: {}, expected {}", worst_row_, worst_token_, worst_actual_,
                       worst_expected_);
}

}  // namespace tessera::llm
