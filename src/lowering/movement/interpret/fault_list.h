#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lowering/movement/interpret/interpret.h"

namespace tessera::movement {

/// Faults of a run. Faults of one kind in one buffer of one kernel are merged into one with all their
/// elements.
class FaultList {
public:
    FaultList(const std::vector<std::string>& kernels, size_t most) : kernels_(kernels), most_(most) {}

    void add(RunFault::Kind kind, size_t kernel, const std::string& buffer, const std::string& problem,
             int64_t element);
    std::vector<RunFault> take() const;
    /// Names of the program's kernels.
    const std::string& kernel(size_t number) const { return kernels_[number]; }

private:
    static constexpr size_t kMostElements = 10'000;
    using Key = std::tuple<RunFault::Kind, size_t, std::string, std::string>;
    const std::vector<std::string>& kernels_;
    size_t most_;
    std::map<Key, std::set<int64_t>> faults_;
    std::vector<const Key*> order_;
};

}  // namespace tessera::movement
