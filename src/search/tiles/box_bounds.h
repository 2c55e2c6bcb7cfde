#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/tiles/normal_form.h"

namespace tessera::tiles {

/// Indices of values in NormalVariable::values, both ends included.
struct Range {
    int32_t first = 0, last = 0;
    bool is_single() const { return first == last; }
    int32_t size() const { return last - first + 1; }
    bool operator==(const Range&) const = default;
};

/// A set of assignments: a range of the domain of each variable.
using Box = std::vector<Range>;

/// The effect of one variable on one sum.
struct Touch {
    size_t variable = 0;
    std::vector<size_t> functions;      ///< of the variable, in factors of the sum
    std::vector<size_t> factors;        ///< of the sum
    std::vector<size_t> unconditional;  ///< terms with such a factor
    std::vector<size_t> lone;           ///< of NormalSum::lone
    std::vector<size_t> clusters;       ///< with such a term, or with the variable in their scope
    bool may_cut_first = false;         ///< small values may make the sum larger
    bool may_cut_last = false;          ///< large values may
};

/// Lower bounds of every sum over one box, from positive terms alone, so that each is exact to about 1e-13 of
/// itself despite rounding.
class BoxBounds {
public:
    BoxBounds(const NormalForm& form, bool try_small_sets);

    void load(const Box& box);
    const Box& box() const { return box_; }
    void narrow(size_t variable, Range range);

    /// The bound of a sum, as of the last `refresh`.
    double bound(size_t sum) const { return sums_[sum].bound; }
    void refresh(size_t sum);
    /// The bound if the variable were in the range. @pre the sum is refreshed
    double bound_within(size_t sum, const Touch& touch, Range range);

    /// For each variable in the scope of a cluster, and each of its classes: the least that the cluster adds
    /// if the variable has this class; infinite if no combination is left.
    /// @pre the sum is refreshed
    void least_of_classes(size_t sum, size_t cluster, std::vector<std::vector<double>>& least) const;
    double bound_without(size_t sum, size_t cluster) const;  ///< the cluster of the sum
    double term_bound(size_t sum, size_t term) const;
    bool has_class(size_t variable, int of_class) const {
        return present_[variable][static_cast<size_t>(of_class)] != 0;
    }

    const std::vector<Touch>& touches(size_t sum) const { return touches_[sum]; }

private:
    struct ClusterState {
        double least = 0;
        std::vector<double> totals;  ///< of each combination; infinite if the box has none of it
    };
    struct SumState {
        double unconditional = 0, lone = 0, bound = 0;
        std::vector<ClusterState> clusters;
    };

    void set_range(size_t variable, Range range);
    double factor_bound(const Factor& factor);
    double exact_bound(const Factor& factor);
    /// @param place that the values of the variables before `at` give
    double least_of_table(const Factor& factor, size_t at, size_t place) const;
    double unconditional_bound(size_t sum) const;
    double lone_bound(size_t sum) const;
    bool is_left(const Cluster& cluster, size_t combination) const;
    double total_of(const Cluster& cluster, size_t combination) const;
    void refresh_cluster(size_t sum, size_t cluster);
    double least_within(size_t sum, size_t cluster);
    bool holds(const LoneTerm& lone) const;

    const NormalForm& form_;
    bool try_small_sets_;
    std::vector<std::vector<Touch>> touches_;         ///< of each sum
    std::vector<std::vector<size_t>> functions_of_;   ///< of each variable
    std::vector<std::vector<size_t>> factors_of_;     ///< of each variable
    std::vector<std::vector<int32_t>> named_before_;  ///< of each variable: values with a class of their own
    Box box_;
    std::vector<double> functions_, factors_;  ///< least values
    std::vector<std::vector<char>> present_;   ///< classes of each variable that the box holds
    std::vector<SumState> sums_;
    std::vector<double> terms_;   ///< of the current sum
    std::vector<int32_t> tried_;  ///< of each variable, the value that exact_bound tries
    std::vector<double> saved_;
};

}  // namespace tessera::tiles
