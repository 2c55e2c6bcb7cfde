#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::planner {

/// Views and replacements of a specialisation as trees: below each value stand its views and the values that
/// take over its storage. For the verifier, which shares no code with the choice of places.
class AliasForest {
public:
    /// @pre what the plan's tensors take are values of the graph
    AliasForest(const Graph& graph, const plan::SpecialisationPlan& plan);

    /// The value of which this one is a view, or whose storage it takes over; nothing if there is none.
    std::optional<ValueId> of(ValueId value) const {
        return at(value).of < 0 ? std::nullopt : std::optional(ValueId{at(value).of});
    }
    /// The value whose storage this one uses; nothing if it leads back to itself by way of others.
    std::optional<ValueId> base(ValueId value) const;
    /// True if a value is this one, or made from its storage later: a view or a replacement of it.
    bool comes_from(ValueId value, ValueId ancestor) const;

private:
    struct Place {
        int of = -1;             ///< -1: it is a root
        int root = -1;           ///< -1: it belongs to no tree
        int first = 0, end = 0;  ///< of itself and all below it, in the order of a walk
    };
    const Place& at(ValueId value) const { return places_[static_cast<size_t>(value.index)]; }

    std::vector<Place> places_;  ///< by value
};

}  // namespace tessera::planner
