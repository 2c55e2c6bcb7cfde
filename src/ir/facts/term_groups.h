#pragma once

#include <string>
#include <vector>

#include "ir/facts/affine.h"

/// Taking a form apart into terms that share no variable, and enumerating the variables of the rest.
namespace tessera::facts {

struct TermGroup {
    std::vector<Term> terms;
    std::vector<int> variables;  ///< ascending
};

/// Terms that share no variable fall into different groups.
std::vector<TermGroup> independent_groups(const Form& form);

/// Points that one question about one access may enumerate after all simplification: a second or two of work.
inline constexpr int64_t kEnumerationLimit = int64_t{1} << 24;

/// Number of combinations of values of these variables. @throws Error beyond kEnumerationLimit.
int64_t combinations(const std::vector<int>& variables, const Space& space);

[[noreturn]] void too_many_combinations(const Space& space);

/// Calls visit(point) for every combination of values of these variables until it returns false; the last
/// variable runs fastest. `point` has an entry for each variable of the space. @return true if every call did
/// @throws Error after kEnumerationLimit points.
template <typename Visit>
bool for_each_point(const std::vector<int>& variables, const Space& space, Visit&& visit) {
    std::vector<int64_t> point(space.extents.size(), 0);
    for (int64_t visited = 0;; ++visited) {
        if (visited == kEnumerationLimit) too_many_combinations(space);
        if (!visit(point)) return false;
        size_t next = variables.size();
        while (next > 0) {
            const auto v = static_cast<size_t>(variables[next - 1]);
            if (++point[v] < space.extents[v]) break;
            point[v] = 0;
            --next;
        }
        if (next == 0) return true;
    }
}

}  // namespace tessera::facts
