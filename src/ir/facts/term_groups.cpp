#include "ir/facts/term_groups.h"

#include <algorithm>
#include <iterator>

#include "support/error.h"

namespace tessera::facts {

std::vector<TermGroup> independent_groups(const Form& form) {
    std::vector<TermGroup> groups;
    for (const Term& term : form.terms) {
        TermGroup joined{{term}, variables_in(*term.atom)};
        std::vector<TermGroup> others;
        for (TermGroup& group : groups) {
            std::vector<int> common;
            std::ranges::set_intersection(joined.variables, group.variables, std::back_inserter(common));
            if (common.empty()) {
                others.push_back(std::move(group));
                continue;
            }
            joined.terms.insert(joined.terms.end(), group.terms.begin(), group.terms.end());
            std::vector<int> both;
            std::ranges::set_union(joined.variables, group.variables, std::back_inserter(both));
            joined.variables = std::move(both);
        }
        others.push_back(std::move(joined));
        groups = std::move(others);
    }
    return groups;
}

void too_many_combinations(const Space& space) {
    throw Error(
        space.bound->where, space.bound->definition.name,
        fmt::format("an access map couples iterators so that more than {} combinations must be enumerated",
                    kEnumerationLimit),
        "give the definition smaller extents");
}

int64_t combinations(const std::vector<int>& variables, const Space& space) {
    int64_t count = 1;
    for (const int v : variables)
        if (__builtin_mul_overflow(count, space.extents[static_cast<size_t>(v)], &count) ||
            count > kEnumerationLimit)
            too_many_combinations(space);
    return count;
}

}  // namespace tessera::facts
