#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "search/tiles/box_bounds.h"

namespace tessera::tiles {

/// Makes boxes smaller without losing an assignment within the limits.
class Propagator {
public:
    Propagator(const NormalForm& form, const Options& options);

    /// Larger costs are not wanted.
    void set_cost_limit(double limit);

    /// The largest bound of the objective over the box, which gets smaller; empty if no assignment of it is
    /// within the limits.
    std::optional<double> run(Box& box);

    /// The rule that refused the last empty box: a sum or, after the sums, a multiple.
    size_t culprit() const { return culprit_; }
    /// The rules with the variable: sums, and after them multiples.
    const std::vector<size_t>& rules_of(size_t variable) const { return rules_of_[variable]; }
    size_t rules() const { return form_.sums.size() + form_.pairs.size(); }

private:
    bool settle(size_t rule);
    bool settle_sum(size_t sum);
    bool cut_by_classes(size_t sum);
    bool cut_by_lone_terms(size_t sum);
    bool cut_ends(size_t sum, const Touch& touch);
    bool settle_multiple(size_t pair);
    bool has_support(size_t pair, bool of_a, int32_t index);
    void narrow(size_t variable, Range range);

    const NormalForm& form_;
    bool cuts_ends_;
    BoxBounds bounds_;
    std::vector<double> limits_;  ///< of every sum
    std::vector<std::vector<size_t>> rules_of_;
    std::vector<char> is_waiting_;  ///< rules that a narrower domain concerns
    std::vector<std::vector<double>> least_;
    std::vector<std::vector<int32_t>>
        support_[2];  ///< the partner that was found last, of each value of a pair
    size_t culprit_ = 0;
};

}  // namespace tessera::tiles
