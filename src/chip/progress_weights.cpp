// A bound by what cannot run together, and by the space of what runs ahead.
//
// Give each execute a weight eps and each preload a weight pi, from 0 to 1, and each position m a price
// sigma(m) of the space during its execute. A preload j of b bytes in l cycles that runs beside execute k is
// held through k, .., j - 1, so it pays rent for all of them with its progress. Where an execute and a
// preload may run together, at speeds a and b', let
//
//     eps a + pi b'  <=  1 + b' / l b (sigma(k) + .. + sigma(j - 1))
//
// At the end of execute m the preloads of later operators that have begun, with all their bytes, and the
// execute's x bytes are within the SRAM, S. What they have done beside executes up to m is at most all of
// them, so all rent for m together is at most sigma(m) (S - x). A schedule that takes row r for each operator
// makes weighted progress of at most its cycles and all rent, so
//
//     sum of eps e + pi l + sigma x - sigma S  of the rows  <=  total
//
// and the sum over operators of the least of these over rows is a bound. With weights 1 and 0 it is the
// execute or HBM bound, with the link shares u and v it is the link bound.
//
// Preload j runs beside execute k only if k is before j, and only if j may be *held* from there on:
//
//     beside k               exec_bytes of k and preload_bytes of j are within the SRAM
//     across each m between  so are those of m and j, and the preload_bytes of both: either m is preloaded
//                            already while j is, or j is held for all of the preload of m
//
// in some row of m. An excess of at most 0.001 cycles is forgiven, so what ends sooner does not count as m,
// and in all the bound is lower by that for each begin and end.

#include "chip/progress_weights.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "chip/timeline.h"

namespace tessera::chip {
namespace {

/// Relative tolerance of the bound for the rounding of its sums, and of weights.
constexpr double kRoundedSum = 1e-10;

}  // namespace

int64_t room_across(const ScheduleProblem& problem, const Operator& op) {
    int64_t most = -1;
    for (const Row& row : op.rows) {
        if (!problem.is_usable(row)) continue;
        const int64_t preload = row.preload() > kIgnoredExcess ? row.preload_bytes : 0;
        const int64_t execute = row.execute() > kIgnoredExcess ? row.exec_bytes : 0;
        most = std::max(most, problem.sram_bytes - std::max(preload, execute));
    }
    return most;
}

bool has_space_limit(const ScheduleProblem& problem, const Operator& op) {
    return std::all_of(op.rows.begin(), op.rows.end(), [&](const Row& row) {
        return !problem.is_usable(row) || row.execute() > kIgnoredExcess;
    });
}

double cycles_of_weights(const ScheduleProblem& problem, const ProgressWeights& weights) {
    double sum = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
        double least = std::numeric_limits<double>::infinity();
        for (size_t r = 0; r < problem.at(i).rows.size(); ++r) {
            const Row& row = problem.at(i).rows[r];
            if (problem.is_usable(row))
                least = std::min(
                    least, weights.execute[i][r] * row.execute() + weights.preload[i][r] * row.preload() +
                               weights.space[i] * static_cast<double>(row.exec_bytes - problem.sram_bytes));
        }
        sum += least;
    }
    // While an excess is ignored, progress may be two cycles in a cycle.
    return sum * (1 - kRoundedSum) - 4 * static_cast<double>(problem.size()) * kIgnoredExcess;
}

std::string weights_fault(const ScheduleProblem& problem, const ProgressWeights& weights) {
    for (size_t k = 0; k < problem.size(); ++k) {
        if (weights.space[k] < 0 || (weights.space[k] > 0 && !has_space_limit(problem, problem.at(k))))
            return fmt::format("operator {}: its space has a price of {}", k, weights.space[k]);
        for (size_t rk = 0; rk < problem.at(k).rows.size(); ++rk) {
            const Row& executed = problem.at(k).rows[rk];
            if (!problem.is_usable(executed)) continue;
            const double eps = weights.execute[k][rk];
            if (std::min(eps, weights.preload[k][rk]) < 0 || std::max(eps, weights.preload[k][rk]) > 1)
                return fmt::format("operator {}, row {}: a weight is not from 0 to 1", k, rk);
            int64_t held = problem.sram_bytes - executed.exec_bytes;
            double prices = 0;  // from k to before j
            for (size_t j = k + 1; j < problem.size(); ++j) {
                prices += weights.space[j - 1];
                for (size_t rj = 0; rj < problem.at(j).rows.size(); ++rj) {
                    const Row& preloaded = problem.at(j).rows[rj];
                    if (preloaded.preload() <= 0 || preloaded.preload_bytes > held) continue;
                    const Speeds speed =
                        speeds(problem.share, executed.execute_use(), preloaded.preload_use());
                    const double rent = speed.preload / preloaded.preload() *
                                        static_cast<double>(preloaded.preload_bytes) * prices;
                    if (eps * speed.execute + weights.preload[j][rj] * speed.preload <=
                        (1 + rent) * (1 + kRoundedSum))
                        continue;
                    return fmt::format("operator {} is executed in row {} beside the preload of {} in row {}",
                                       k, rk, j, rj);
                }
                held = std::min(held, room_across(problem, problem.at(j)));
            }
        }
    }
    return {};
}

}  // namespace tessera::chip
