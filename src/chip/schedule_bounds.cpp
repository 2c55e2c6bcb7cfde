#include "chip/schedule_bounds.h"

#include <limits>

namespace tessera::chip {
namespace {

/// The smallest values over the usable rows of one operator.
struct Least {
    double execute = std::numeric_limits<double>::infinity();
    double preload = std::numeric_limits<double>::infinity();
    double both = std::numeric_limits<double>::infinity();
    double link = std::numeric_limits<double>::infinity();
    double hbm = std::numeric_limits<double>::infinity();
};

Least least_of(const ScheduleProblem& problem, const Operator& from) {
    Least least;
    for (const Row& row : from.rows) {
        if (!problem.is_usable(row)) continue;
        least.execute = std::min(least.execute, row.execute());
        least.preload = std::min(least.preload, row.preload());
        least.both = std::min(least.both, row.preload() + row.execute());
        least.link = std::min(least.link, row.link_in + row.traffic());
        least.hbm = std::min(least.hbm, row.hbm + row.latency);
    }
    return least;
}

}  // namespace

std::optional<size_t> infeasible_position(const ScheduleProblem& problem) {
    for (size_t i = 0; i < problem.size(); ++i) {
        const auto& rows = problem.at(i).rows;
        if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return problem.is_usable(row); }))
            return i;
    }
    return std::nullopt;
}

ScheduleBounds resource_bounds(const ScheduleProblem& problem) {
    std::vector<Least> least;
    for (const Operator& each : problem.operators) least.push_back(least_of(problem, each));
    ScheduleBounds bounds;
    for (const size_t o : problem.sequence) {
        bounds.execute += least[o].execute;
        bounds.hbm += least[o].hbm;
        bounds.link += least[o].link;
    }
    double head = 0, tail = bounds.execute;
    for (const size_t o : problem.sequence) {
        tail -= least[o].execute;
        bounds.path = std::max(bounds.path, head + least[o].both + tail);
        head += least[o].preload;
    }
    return bounds;
}

}  // namespace tessera::chip
