#pragma once

#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "search/schedule/solve_tiles.h"

namespace tessera::schedule {

/// The least cost of any structure that actions reach, each evaluated on its own.
inline double least_of(BlockContext& context) {
    std::map<std::string, double> seconds;
    std::set<std::string> seen;
    std::vector<Structure> open = {unfused(context)};
    double least = std::numeric_limits<double>::infinity();
    while (!open.empty()) {
        const Structure structure = std::move(open.back());
        open.pop_back();
        double sum = 0;
        std::string key;
        for (const lowering::NumberedNest& kernel : structure) {
            const std::string name = text(context, kernel);
            key += name + ";";
            if (!seconds.contains(name)) {
                int64_t work = 0;
                const auto solved = solve_tiles(context, kernel, {}, work);
                seconds[name] = solved ? solved->seconds : std::numeric_limits<double>::infinity();
            }
            sum += seconds.at(name);
        }
        if (!seen.insert(key).second) continue;
        least = std::min(least, sum);
        if (!(sum < std::numeric_limits<double>::infinity())) continue;
        for (const Merge& merge : merges(context, structure))
            open.push_back(applied(context, structure, merge));
    }
    return least;
}

}  // namespace tessera::schedule
