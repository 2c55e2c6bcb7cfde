#include "planner/pending_accesses.h"

#include <algorithm>

#include "lowering/worker_parts.h"
#include "support/error.h"

namespace tessera::planner {

bool PendingAccesses::add(const std::vector<movement::WorkerAccess>& accesses,
                          const std::set<std::string>& own) {
    for (const movement::WorkerAccess& access : accesses) {
        if (own.contains(access.value)) continue;
        const auto [at, is_first] = storages_.emplace(access.value, Storage{false, access.parts});
        Storage& storage = at->second;
        if (!is_first) lowering::keep_common(storage.parts, access.parts);
        storage.is_written |= access.is_write;
        if (storage.is_written && storage.parts.empty()) return false;
    }
    return true;
}

void PendingAccesses::keep(const std::set<std::string>& used) {
    std::erase_if(storages_, [&](const auto& storage) { return !used.contains(storage.first); });
}

std::string PendingAccesses::text() const {
    std::string text;
    for (const auto& [value, storage] : storages_) {
        text += value + (storage.is_written ? "!" : "?");
        for (const movement::WorkerPart& part : storage.parts)
            text += fmt::format("{}:{} ", part.axis, part.group);
    }
    return text;
}

namespace {

/// Walks the kernels as they run; blocks that repeat, twice: then their end has met their beginning.
bool is_race_free(const std::vector<SequencedKernel>& kernels, const std::vector<int64_t>& repeats,
                  const std::set<std::string>& own) {
    PendingAccesses pending;
    for (size_t first = 0; first < kernels.size();) {
        size_t end = first;
        while (end < kernels.size() && kernels[end].block == kernels[first].block) ++end;
        for (int64_t repetition = 0; repetition < std::min<int64_t>(repeats[kernels[first].block], 2);
             ++repetition) {
            for (size_t k = first; k < end; ++k) {
                if (kernels[k].barrier) pending.clear();
                if (!pending.add(kernels[k].accesses, own)) return false;
            }
        }
        first = end;
    }
    return true;
}

}  // namespace

void remove_needless_barriers(std::vector<SequencedKernel>& kernels, const std::vector<int64_t>& repeats,
                              const std::set<std::string>& own) {
    for (SequencedKernel& kernel : kernels) {
        if (!std::exchange(kernel.barrier, false)) continue;
        kernel.barrier = !is_race_free(kernels, repeats, own);
    }
}

}  // namespace tessera::planner
