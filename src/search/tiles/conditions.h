#pragma once

#include <vector>

#include "search/tiles/normal_form.h"

namespace tessera::tiles {

/// v has a value of this class.
struct ClassCondition {
    size_t variable = 0;
    int of_class = 0;
    auto operator<=>(const ClassCondition&) const = default;
};

/// For one sum: the conditions of each term, sorted by variable.
using SumConditions = std::vector<std::vector<ClassCondition>>;

/// Puts the terms of every sum into its `unconditional`, `clusters` and `lone`.
/// @param conditions for each sum of the form
void form_clusters(NormalForm& form, const std::vector<SumConditions>& conditions, bool count_cheapest);

}  // namespace tessera::tiles
