#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "chip/partition/partition_plans.h"

namespace tessera::partition {

std::vector<ExecutePlan> PartitionPlans::front(PlanCounts& counts, const Accept& accepts) const {
    // Equally good plans are told apart by these bytes: fewer if more cores share.
    struct Candidate {
        ExecutePlan plan;
        int64_t preload_bytes;
    };
    const auto shared_bytes = [&](const ExecutePlan& plan) {
        int64_t bytes = 0;
        for (size_t t = 0; t < op_.places.size(); ++t)
            if (op_.places[t] == Place::kHbm && is_operand(t))
                bytes += tile_count(footprints_.bytes(t, plan.sizes), footprints_.sharers(t, plan.sizes));
        return bytes;
    };
    // It takes longest to say whether a rotation can be executed, so only plans that belong to the front are
    // asked. Those without one can, and leave out most others at once.
    std::array<std::map<int64_t, double>, 2> sure;  // falling times by growing spaces
    const auto time = [](const ExecutePlan& plan, size_t by) {
        return by == 0 ? plan.time() : plan.time_apart();
    };
    const auto is_beaten = [&](const ExecutePlan& plan, size_t by) {
        const auto above = sure[by].upper_bound(plan.exec_bytes);
        return above != sure[by].begin() && std::prev(above)->second < time(plan, by);
    };
    std::vector<Candidate> candidates;
    for_each([&](const ExecutePlan& plan) {
        ++counts.plans;
        if (plan.steps == 1) ++counts.slicings;
        if (!fits(plan)) return;
        ++counts.fitting;
        if ((is_beaten(plan, 0) && is_beaten(plan, 1)) || (accepts && !accepts(plan))) return;
        candidates.push_back({plan, shared_bytes(plan)});
        if (plan.steps > 1) return;
        for (const size_t by : {0, 1}) {
            if (is_beaten(plan, by)) continue;
            auto own = sure[by].insert_or_assign(plan.exec_bytes, time(plan, by)).first;
            while (std::next(own) != sure[by].end() && std::next(own)->second >= time(plan, by))
                sure[by].erase(std::next(own));
        }
    });
    std::vector<ExecutePlan> result;
    for (const size_t by : {0, 1}) {
        const auto key = [&](const Candidate& c) {
            return std::tuple(c.plan.exec_bytes, time(c.plan, by), c.plan.shift, c.preload_bytes);
        };
        std::stable_sort(candidates.begin(), candidates.end(),
                         [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
        double best = std::numeric_limits<double>::infinity();
        for (const Candidate& each : candidates) {
            if (time(each.plan, by) >= best || !can_execute(each.plan)) continue;
            best = time(each.plan, by);
            if (std::find(result.begin(), result.end(), each.plan) == result.end())
                result.push_back(each.plan);
        }
    }
    std::stable_sort(result.begin(), result.end(), [](const ExecutePlan& a, const ExecutePlan& b) {
        return std::pair(a.time(), a.exec_bytes) < std::pair(b.time(), b.exec_bytes);
    });
    counts.front += static_cast<int64_t>(result.size());
    return result;
}

}  // namespace tessera::partition
