#pragma once

#include <string>
#include <vector>

#include "distribution/distribute.h"

/// Plans without the search: a checker, and the enumeration of all of them.
namespace tessera::distribution {

/// Seconds and bytes that count as equal.
bool is_near(double a, double b);

/// Checks a plan against the rules of docs/distribution.md: forms follow from the choices, boxes are boxes at
/// their prices, every form that is read or wanted is there, and the sums are right. Empty if it is valid.
std::vector<std::string> violations(const Problem& problem, const DistributionPlan& plan);

/// The time and the memory of a plan.
struct PlainSum {
    double seconds = 0;
    int64_t units = 0;
};

/// The sums that no other plan beats in both, over every choice of every operator with every set of forms of
/// every value; ascending by seconds.
std::vector<PlainSum> enumerate(const Problem& problem);

}  // namespace tessera::distribution
