#include "search/planner/pending_accesses.h"

#include <algorithm>

#include "lowering/worker_parts.h"

namespace tessera::planner {

std::vector<NumberedAccess> AccessNumbers::of(const std::vector<movement::WorkerAccess>& accesses) {
    std::vector<NumberedAccess> numbered;
    for (const movement::WorkerAccess& access : accesses)
        numbered.push_back({storage(access.value), parts(access.parts), access.is_write, access.by_all});
    return numbered;
}

int AccessNumbers::storage(const std::string& value) {
    const auto [known, is_new] = storages_.emplace(value, static_cast<int>(values_.size()));
    if (is_new) values_.push_back(value);
    return known->second;
}

int AccessNumbers::parts(const Parts& list) {
    std::vector<std::pair<int, int64_t>> key;
    for (const movement::WorkerPart& part : list) key.emplace_back(part.axis, part.group);
    const auto [known, is_new] = numbers_.emplace(std::move(key), static_cast<int>(lists_.size()));
    if (is_new) lists_.push_back(list);
    return known->second;
}

int AccessNumbers::common(int parts, int others) {
    if (parts == others) return parts;
    if (const auto known = common_.find({parts, others}); known != common_.end()) return known->second;
    Parts both = lists_[static_cast<size_t>(parts)];
    lowering::keep_common(both, lists_[static_cast<size_t>(others)]);
    return common_.emplace(std::pair(parts, others), this->parts(both)).first->second;
}

PendingAccesses::Storage& PendingAccesses::at(const NumberedAccess& access) {
    const auto place = std::ranges::lower_bound(storages_, access.storage, {}, &Storage::number);
    if (place != storages_.end() && place->number == access.storage) return *place;
    return *storages_.insert(place, {access.storage, access.parts, false});
}

void PendingAccesses::append_to(std::vector<int64_t>& key) const {
    for (const Storage& storage : storages_) {
        key.push_back(storage.number);
        key.push_back(2 * storage.parts + (storage.is_written ? 1 : 0));
    }
}

namespace {

/// Kernels as they run; those of blocks that repeat, twice: then their end has met their beginning.
std::vector<size_t> running_order(const std::vector<SequencedKernel>& kernels,
                                  const std::vector<int64_t>& repeats) {
    std::vector<size_t> order;
    for (size_t first = 0; first < kernels.size();) {
        size_t end = first;
        while (end < kernels.size() && kernels[end].block == kernels[first].block) ++end;
        for (int64_t repetition = 0; repetition < std::min<int64_t>(repeats[kernels[first].block], 2);
             ++repetition)
            for (size_t k = first; k < end; ++k) order.push_back(k);
        first = end;
    }
    return order;
}

/// From the barrier before a place of the order to the one behind it.
bool is_race_free_around(size_t place, const std::vector<size_t>& order,
                         const std::vector<SequencedKernel>& kernels, const std::set<int>& own,
                         AccessNumbers& numbers) {
    const auto has_barrier = [&](size_t at) { return kernels[order[at]].barrier; };
    size_t at = place;
    while (at > 0 && !has_barrier(at)) --at;
    PendingAccesses pending;
    const auto is_own = [&](int storage) { return own.contains(storage); };
    for (; at < order.size() && (at <= place || !has_barrier(at)); ++at)
        if (!pending.add(kernels[order[at]].accesses, numbers, is_own)) return false;
    return true;
}

}  // namespace

void remove_needless_barriers(std::vector<SequencedKernel>& kernels, const std::vector<int64_t>& repeats,
                              const std::set<int>& own, AccessNumbers& numbers) {
    const std::vector<size_t> order = running_order(kernels, repeats);
    std::vector<std::vector<size_t>> places(kernels.size());
    for (size_t at = 0; at < order.size(); ++at) places[order[at]].push_back(at);
    for (size_t k = 0; k < kernels.size(); ++k) {
        if (!std::exchange(kernels[k].barrier, false)) continue;
        kernels[k].barrier = !std::ranges::all_of(places[k], [&](size_t place) {
            return is_race_free_around(place, order, kernels, own, numbers);
        });
    }
}

}  // namespace tessera::planner
