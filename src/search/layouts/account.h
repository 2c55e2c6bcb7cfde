#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/layouts/value_forms.h"

namespace tessera::layouts {

/// A form that some choice uses.
struct UsedForm {
    std::string tensor;          ///< the one that it makes
    std::string made_by;         ///< the node; empty for constants and values given to a block
    std::optional<Instance> at;  ///< nothing for a constant
    Layout layout;               ///< of the account's tensor if it reads that, else of its own result
    std::string form, by;
    double seconds = 0;  ///< at all points by their weights, times the block's repetitions
};

/// Why a value lies as it does: facts about the choice, and about the best one in which it lies otherwise.
struct Account {
    Layout layout;
    UsedForm maker;
    std::vector<UsedForm> readers;  ///< `layout`: as they read the value
    std::vector<UsedForm> copies;   ///< of the value in other layouts

    extraction::Result runner_up;  ///< no choice: there is none
    Layout other_layout;           ///< of the value then
    /// Values that are then made or copied otherwise: before and after.
    std::vector<std::pair<std::optional<UsedForm>, std::optional<UsedForm>>> changes;

    std::vector<std::pair<std::string, std::string>>
        impossible;  ///< forms of it and of readers, with reasons
};

/// @param values all of the search, of which this one is needed
Account account_of(const Search& search, const std::vector<ValueForms>& values, const ValueForms& value,
                   const extraction::Options& options);

}  // namespace tessera::layouts
