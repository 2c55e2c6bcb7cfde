#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tessera::llm {

/// How far rows of logits are from expected ones. Rows are added one by one; nothing is kept of them.
class LogitsComparison {
public:
    explicit LogitsComparison(int64_t vocabulary) : vocabulary_(vocabulary) {}

    /// The next row of both, [vocabulary]. @pre the expected ones are finite
    void add(std::span<const float> expected, std::span<const float> actual);

    int64_t rows() const { return rows_; }
    /// max - min of everything that was expected.
    double range() const { return rows_ == 0 ? 0 : high_ - low_; }
    /// Max over all rows of |actual - expected|, divided by the range. Infinite where a value is not a
    /// number, and where a difference meets a range of zero.
    double worst_error() const;
    /// "row 3, token 77: 1.25, expected 1.5"
    std::string worst_element() const;
    /// Rows whose most probable tokens agree; of several the lowest id counts.
    int64_t top1_agreements() const { return top1_agreements_; }
    /// Kullback-Leibler divergence of the actual from the expected distributions, in nats.
    double mean_divergence() const { return rows_ == 0 ? 0 : divergence_sum_ / static_cast<double>(rows_); }
    double worst_divergence() const { return worst_divergence_; }

private:
    int64_t vocabulary_;
    int64_t rows_ = 0;
    double low_ = 0, high_ = 0;
    double worst_difference_ = 0;
    int64_t worst_row_ = 0, worst_token_ = 0;
    float worst_expected_ = 0, worst_actual_ = 0;
    int64_t top1_agreements_ = 0;
    double divergence_sum_ = 0, worst_divergence_ = 0;
};

}  // namespace tessera::llm
