#include "cost/linear_model.h"

#include <algorithm>

#include "support/error.h"

namespace tessera::cost {

std::vector<double> fit(const std::vector<Observation>& observations) {
    if (observations.empty()) return {};
    const size_t count = observations.front().counts.size();
    for (const Observation& each : observations)
        TESSERA_CHECK(each.counts.size() == count && each.seconds > 0, "{}", each.seconds);
    std::vector<double> weights(count, 0.0);
    std::vector<double> residuals(observations.size(), -1.0);  // of counts . weights - seconds, by seconds
    std::vector<std::vector<double>> shares(count);            // counts by seconds
    for (size_t j = 0; j < count; ++j) {
        for (const Observation& each : observations) shares[j].push_back(each.counts[j] / each.seconds);
    }
    constexpr int kRounds = 20'000;
    for (int round = 0; round < kRounds; ++round) {
        for (size_t j = 0; j < count; ++j) {
            double slope = 0, curvature = 0;
            for (size_t i = 0; i < residuals.size(); ++i) {
                slope += shares[j][i] * residuals[i];
                curvature += shares[j][i] * shares[j][i];
            }
            if (curvature == 0) continue;
            const double next = std::max(0.0, weights[j] - slope / curvature);
            const double step = next - weights[j];
            if (step == 0) continue;
            for (size_t i = 0; i < residuals.size(); ++i) residuals[i] += step * shares[j][i];
            weights[j] = next;
        }
    }
    return weights;
}

}  // namespace tessera::cost
