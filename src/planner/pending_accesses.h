#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "movement/program.h"

namespace tessera::planner {

/// The accesses since the last barrier, as far as they decide whether a next kernel without a barrier races:
/// for each storage, whether it was written, and the divisions that all accesses keep to.
class PendingAccesses {
public:
    /// Adds a kernel's accesses to storage that all workers share. False, and undefined from then on, if
    /// there may be a race.
    bool add(const std::vector<movement::WorkerAccess>& accesses, const std::set<std::string>& own);
    void clear() { storages_.clear(); }
    /// Forgets all storages but these.
    void keep(const std::set<std::string>& used);
    /// For comparison.
    std::string text() const;

private:
    struct Storage {
        bool is_written = false;
        std::vector<movement::WorkerPart> parts;
    };
    std::map<std::string, Storage> storages_;
};

/// A kernel in the sequence of a specialisation.
struct SequencedKernel {
    size_t block = 0;
    bool barrier = false;
    std::vector<movement::WorkerAccess> accesses;
};

/// Removes every barrier that is not needed, from the front. `repeats`: the repetitions of each block; `own`:
/// storage that each worker has a copy of.
void remove_needless_barriers(std::vector<SequencedKernel>& kernels, const std::vector<int64_t>& repeats,
                              const std::set<std::string>& own);

}  // namespace tessera::planner
