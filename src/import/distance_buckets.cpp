#include "import/distance_buckets.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "import/spread_rows.h"

namespace tessera::import {

int64_t DistanceBuckets::row(int64_t distance, int64_t buckets) const {
    const int64_t own = is_of_both ? buckets / 2 : buckets;
    const int64_t first = is_of_both && distance > 0 ? own : 0;
    const int64_t size = is_of_both ? std::abs(distance) : std::max<int64_t>(-distance, 0);
    const int64_t exact = own / 2;
    if (size < exact) return first + size;
    const float part =
        std::log(static_cast<float>(size) / static_cast<float>(exact)) /
        static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(exact)));
    const auto step = static_cast<int64_t>(part * static_cast<float>(own - exact));
    return first + std::min(exact + step, own - 1);
}

std::vector<float> DistanceBuckets::spread(const std::vector<float>& rows, int64_t buckets,
                                           int64_t positions) const {
    return rows_of_distances(rows, buckets, positions,
                             [&](int64_t distance) { return row(distance, buckets); });
}

std::string DistanceBuckets::source(const std::string& stored) const {
    return fmt::format("buckets({}, {}, {})", stored, farthest, is_of_both);
}

std::optional<DistanceBuckets> distance_buckets_in(const Term& term) {
    constexpr double kFarthest = 1 << 24;
    if (!term.is_call("buckets") || term.arguments[0]->kind != Term::Kind::kName) return std::nullopt;
    const TermPtr& farthest = term.arguments[1];
    if (farthest->kind != Term::Kind::kNumber || farthest->number < 1 || farthest->number > kFarthest)
        return std::nullopt;
    const TermPtr both = term.option("both");
    return DistanceBuckets{.table = term.arguments[0]->name,
                           .farthest = static_cast<int64_t>(farthest->number),
                           .is_of_both = both && both->is_name("true")};
}

}  // namespace tessera::import
