#pragma once

#include <optional>

#include "search/extraction/budget.h"
#include "search/extraction/formula.h"
#include "search/extraction/instance.h"
#include "search/extraction/max_sat.h"
#include "search/extraction/sat.h"
#include "search/extraction/simplify.h"

namespace tessera::extraction {

/// Simplification and core-guided search of one instance, which must outlive it.
class ExactSearch {
public:
    /// @param known  a solution, if there is one: only cheaper ones are looked for
    ExactSearch(const Instance& instance, Incumbent known, const SimplifyOptions& options = {});
    ExactSearch(const ExactSearch&) = delete;
    ExactSearch& operator=(const ExactSearch&) = delete;

    /// Runs the search; may be resumed while it ends with kOutOfBudget.
    MaxSat::End run(Budget& budget);

    const Incumbent& best() const { return best_; }
    /// A solution that was found elsewhere.
    void offer(const Incumbent& found);
    /// No solution costs less.
    Weight lower() const { return max_sat_ ? max_sat_->lower() : kUnreached; }
    /// The instance after simplification.
    const Instance& simplified() const { return simplified_; }

private:
    std::optional<Weight> read_model();

    const Instance& instance_;
    Incumbent best_;
    Instance simplified_;
    Sat sat_;
    std::optional<Formula> formula_;  ///< these two: empty if a root cannot be computed
    std::optional<MaxSat> max_sat_;
};

}  // namespace tessera::extraction
