#pragma once

#include <string>
#include <vector>

#include "fuzz/programs/expected.h"
#include "fuzz/programs/treatments.h"

namespace tessera::fuzz {

/// Counts of what a run has tried. Refused programs test nothing, and are counted by themselves.
class Statistics {
public:
    void add(const Program& program, const Verdict& verdict);

    int64_t count(Outcome outcome) const;
    int64_t faults() const;
    std::string text() const;

    /// Faults of the run itself: too many refusals, a kind of node, type or value that no agreeing program
    /// had, too few elements that are compared strictly. Empty if the run tells something.
    std::vector<std::string> gaps(double most_refused) const;

private:
    std::map<Outcome, int64_t> outcomes_;
    std::map<std::string, int64_t> reasons_;  ///< of refusals, without names and numbers
    Coverage agreeing_, others_;
    Strictness strictness_;
};

}  // namespace tessera::fuzz
