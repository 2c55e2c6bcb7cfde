#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lowering/movement/program.h"

namespace tessera::planner {

/// An access by numbers: of its storage, and of the divisions to which it keeps.
struct NumberedAccess {
    int storage = 0, parts = 0;
    bool is_write = false, by_all = false;
};

/// Numbers of storages and of lists of divisions, which are compared many times.
class AccessNumbers {
public:
    std::vector<NumberedAccess> of(const std::vector<movement::WorkerAccess>& accesses);
    int storage(const std::string& value);
    const std::string& value(int storage) const { return values_[static_cast<size_t>(storage)]; }
    size_t storages() const { return values_.size(); }
    /// The divisions of the first list that the second one has, too.
    int common(int parts, int others);
    bool is_none(int parts) const { return lists_[static_cast<size_t>(parts)].empty(); }

private:
    using Parts = std::vector<movement::WorkerPart>;
    int parts(const Parts& list);

    std::map<std::string, int> storages_;
    std::vector<std::string> values_;  ///< by number of the storage
    std::vector<Parts> lists_;         ///< by number
    std::map<std::vector<std::pair<int, int64_t>>, int> numbers_;
    std::map<std::pair<int, int>, int> common_;
};

/// The accesses since the last barrier, as far as they decide whether a next kernel without a barrier races:
/// for each storage, whether it was written, and the divisions that all accesses keep to.
class PendingAccesses {
public:
    /// Adds a kernel's accesses to storage that all workers share: `is_own(storage)` says which is not.
    /// False, and undefined from then on, if there may be a race.
    template <typename IsOwn>
    bool add(std::span<const NumberedAccess> accesses, AccessNumbers& numbers, const IsOwn& is_own) {
        for (const NumberedAccess& access : accesses) {
            if (is_own(access.storage)) continue;
            Storage& storage = at(access);
            storage.parts = numbers.common(storage.parts, access.parts);
            storage.is_written = storage.is_written || access.is_write;
            if (storage.is_written && numbers.is_none(storage.parts)) return false;
        }
        return true;
    }
    void clear() { storages_.clear(); }
    /// Forgets all storages but those that `is_used(storage)`.
    template <typename IsUsed>
    void keep(const IsUsed& is_used) {
        std::erase_if(storages_, [&](const Storage& storage) { return !is_used(storage.number); });
    }
    /// Appends numbers that tell it apart from others.
    void append_to(std::vector<int64_t>& key) const;

private:
    struct Storage {
        int number, parts;
        bool is_written;
    };
    /// That of the access; a new one has its divisions.
    Storage& at(const NumberedAccess& access);

    std::vector<Storage> storages_;  ///< by ascending number
};

/// A kernel in the sequence of a specialisation.
struct SequencedKernel {
    size_t block = 0;
    bool barrier = false;
    std::vector<NumberedAccess> accesses;
};

/// Removes every barrier that is not needed, from the front. @pre there is no race as it stands. `repeats`:
/// the repetitions of each block; `own`: storage that each worker has a copy of.
void remove_needless_barriers(std::vector<SequencedKernel>& kernels, const std::vector<int64_t>& repeats,
                              const std::set<int>& own, AccessNumbers& numbers);

}  // namespace tessera::planner
