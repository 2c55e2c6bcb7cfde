#include "search/schedule/region_nests.h"

#include "support/error.h"

namespace tessera::schedule {

using lowering::NumberedNest;

void MergedNests::add(const NumberedNest& from, const NumberedNest& into) {
    const Structure both = {from, into};
    for (const Merge& merge : merges(block_, both, limits_)) {
        NumberedNest nest = applied(block_, both, merge).front();
        if (seen_.insert(text(block_, nest)).second) nests_.push_back(std::move(nest));
    }
}

const std::vector<NumberedNest>& RegionNests::operator()(const Region& region) {
    if (const auto known = known_.find(region); known != known_.end()) return known->second;
    std::vector<NumberedNest> nests = made(region);
    return known_.emplace(region, std::move(nests)).first->second;
}

/// The last merge joins two regions, of which one runs before the other.
std::vector<NumberedNest> RegionNests::made(const Region& region) {
    if (region.size() == 1) return {lone_nest(block_, region.front())};
    MergedNests nests(block_, block_.limits);
    TESSERA_CHECK(region.size() < 16);
    for (unsigned mask = 1; mask + 1 < 1U << region.size(); ++mask) {
        Region from, into;
        for (size_t i = 0; i < region.size(); ++i) (mask >> i & 1U ? from : into).push_back(region[i]);
        if (order_.reaches(into, from) || !order_.is_connected(from) || !order_.is_connected(into) ||
            !order_.is_convex(from) || !order_.is_convex(into))
            continue;
        const std::vector<NumberedNest>&producers = (*this)(from), &readers = (*this)(into);
        for (const NumberedNest& producer : producers)
            for (const NumberedNest& reader : readers) nests.add(producer, reader);
    }
    return nests.take();
}

}  // namespace tessera::schedule
