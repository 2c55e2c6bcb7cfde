#include "chip/search_space.h"

#include <algorithm>
#include <vector>

#include "chip/preload_orders.h"

namespace tessera::chip {
namespace {

/// The most neighbours whose bytes fit together.
size_t most_fitting(const std::vector<int64_t>& bytes, int64_t capacity) {
    size_t most = 0, first = 0;
    int64_t held = 0;
    for (size_t last = 0; last < bytes.size(); ++last) {
        held += bytes[last];
        while (held > capacity) held -= bytes[first++];
        most = std::max(most, last + 1 - first);
    }
    return most;
}

}  // namespace

SearchSpace search_space(const ScheduleProblem& problem) {
    SearchSpace space{.operators = problem.size()};
    std::vector<int64_t> bytes, heavy_bytes;
    for (size_t i = 0; i < problem.size(); ++i) bytes.push_back(least_preload(problem, i));
    const PreloadOrders orders = preload_orders(problem, {.most_orders = 1, .most_operators = SIZE_MAX});
    const size_t first = orders.repeat ? problem.repeats[*orders.repeat].first : 0;
    for (const size_t h : orders.heavy) heavy_bytes.push_back(bytes[first + h]);
    space.heavy = heavy_bytes.size();
    space.fitting_heavy = most_fitting(heavy_bytes, problem.sram_bytes);
    space.fitting = most_fitting(bytes, problem.sram_bytes);
    for (const Operator& op : problem.operators)
        space.rows = std::max<size_t>(space.rows,
                                      std::count_if(op.rows.begin(), op.rows.end(),
                                                    [&](const Row& row) { return problem.is_usable(row); }));
    return space;
}

}  // namespace tessera::chip
