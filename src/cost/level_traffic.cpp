#include "cost/level_traffic.h"

namespace tessera::cost {

std::vector<LevelTraffic> traffic_of(const Evaluation& evaluation, const CostModel& model, int64_t workers) {
    std::vector<LevelTraffic> traffic;
    for (size_t level = 0; level < evaluation.levels.size(); ++level) {
        const double seconds = evaluation.levels[level];
        if (seconds == 0) continue;
        traffic.push_back(
            {model.machine().memory[level].name, seconds / model.seconds_per_byte(level, workers), seconds});
    }
    return traffic;
}

}  // namespace tessera::cost
