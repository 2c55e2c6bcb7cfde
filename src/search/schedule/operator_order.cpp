#include "search/schedule/operator_order.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "search/schedule/block_context.h"
#include "support/error.h"

namespace tessera::schedule {
namespace {

void add(std::vector<int>& to, int op) {
    if (std::ranges::find(to, op) == to.end()) to.push_back(op);
}

}  // namespace

OperatorOrder::OperatorOrder(const BlockContext& block) : apart_(block.apart) {
    const size_t count = block.links.operators.size();
    before_.resize(count);
    beside_.resize(count);
    for (size_t op = 0; op < count; ++op) {
        const auto number = static_cast<int>(op);
        for (const int reader : block.readers[op]) {
            if (reader == number) continue;  // an update is among the readers of what it replaces
            add(before_[static_cast<size_t>(reader)], number);
            add(beside_[static_cast<size_t>(reader)], number);
            add(beside_[op], reader);
        }
        if (op < block.followers.size())
            for (const int follower : block.followers[op])
                add(before_[static_cast<size_t>(follower)], number);
    }
    // Operators are numbered in an order of execution.
    reaches_.assign(count, std::vector<bool>(count));
    for (size_t op = 0; op < count; ++op)
        for (const int earlier : before_[op]) {
            TESSERA_CHECK(earlier < static_cast<int>(op));
            reaches_[static_cast<size_t>(earlier)][op] = true;
            for (size_t first = 0; first < count; ++first)
                if (reaches_[first][static_cast<size_t>(earlier)]) reaches_[first][op] = true;
        }
}

bool OperatorOrder::reaches(const Region& from, const Region& to) const {
    return std::ranges::any_of(
        from, [&](int a) { return std::ranges::any_of(to, [&](int b) { return reaches(a, b); }); });
}

bool OperatorOrder::is_convex(const Region& region) const {
    for (int op = region.front() + 1; op < region.back(); ++op)
        if (!contains(region, op) && reaches(region, {op}) && reaches({op}, region)) return false;
    return true;
}

bool OperatorOrder::is_connected(const Region& region) const {
    Region reached = {region.front()};
    for (size_t at = 0; at < reached.size(); ++at)
        for (const int next : beside(reached[at]))
            if (contains(region, next)) add(reached, next);
    return reached.size() == region.size();
}

bool OperatorOrder::has_pair_apart(const Region& region) const {
    return std::ranges::any_of(apart_, [&](const std::pair<int, int>& pair) {
        return contains(region, pair.first) && contains(region, pair.second);
    });
}

std::optional<std::vector<size_t>> OperatorOrder::sorted(const std::vector<Region>& regions) const {
    std::vector<int> region_of(size(), -1);
    for (size_t r = 0; r < regions.size(); ++r)
        for (const int op : regions[r]) region_of[static_cast<size_t>(op)] = static_cast<int>(r);
    std::vector<std::set<int>> readers(regions.size());
    std::vector<size_t> waits(regions.size());
    for (size_t r = 0; r < regions.size(); ++r)
        for (const int op : regions[r])
            for (const int earlier : before(op)) {
                const int maker = region_of[static_cast<size_t>(earlier)];
                if (maker >= 0 && maker != static_cast<int>(r) &&
                    readers[static_cast<size_t>(maker)].insert(static_cast<int>(r)).second)
                    ++waits[r];
            }
    std::set<std::pair<int, size_t>> ready;
    for (size_t r = 0; r < regions.size(); ++r)
        if (waits[r] == 0) ready.emplace(regions[r].back(), r);
    std::vector<size_t> order;
    while (!ready.empty()) {
        const size_t next = ready.begin()->second;
        ready.erase(ready.begin());
        order.push_back(next);
        for (const int reader : readers[next])
            if (--waits[static_cast<size_t>(reader)] == 0)
                ready.emplace(regions[static_cast<size_t>(reader)].back(), static_cast<size_t>(reader));
    }
    if (order.size() < regions.size()) return std::nullopt;
    return order;
}

Region region_of(const lowering::NumberedNest& kernel) {
    Region region = kernel.operators();
    std::ranges::sort(region);
    return region;
}

Region joined(const Region& a, const Region& b) {
    Region both;
    std::ranges::set_union(a, b, std::back_inserter(both));
    return both;
}

bool contains(const Region& region, int op) {
    return std::ranges::binary_search(region, op);
}

std::vector<Region> regions(const BlockContext& block, const OperatorOrder& order, size_t most,
                            size_t count) {
    // Each is one operator, its first or last, more than a smaller one.
    std::vector<Region> found;
    std::set<Region> seen;
    std::vector<Region> of_size;
    for (int op = 0; op < static_cast<int>(order.size()); ++op)
        if (!block.is_alone[static_cast<size_t>(op)]) of_size.push_back({op});
    for (size_t size = 2; size <= most; ++size) {
        std::vector<Region> larger;
        for (const Region& region : of_size)
            for (const int op : region)
                for (const int next : order.beside(op)) {
                    if (contains(region, next) || block.is_alone[static_cast<size_t>(next)]) continue;
                    Region grown = joined(region, {next});
                    if (order.has_pair_apart(grown) || !order.is_convex(grown) || !seen.insert(grown).second)
                        continue;
                    if (found.size() == count) return found;
                    larger.push_back(grown);
                    found.push_back(std::move(grown));
                }
        of_size = std::move(larger);
    }
    return found;
}

}  // namespace tessera::schedule
