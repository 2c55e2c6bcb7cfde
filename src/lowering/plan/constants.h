#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

namespace tessera::plan {

/// The place of a packed constant in the artefact's section of constants, in bytes.
struct StoredConstant {
    int64_t offset = 0;  ///< of its first repetition, a multiple of 64
    int64_t bytes = 0;   ///< of one repetition, padding of the layout included
    int64_t stride = 0;  ///< from one repetition to the next; 0 if there is one
    int64_t repetitions = 1;
};

/// Follows from the graph and the plan's stored layouts: constants in the graph's order, each repetition on a
/// line of its own, large ones from a page on, so that ranks that have the same can share its pages.
struct ConstantSection {
    std::map<std::string, StoredConstant> constants;  ///< by value name
    int64_t bytes = 0;
};

ConstantSection constant_section(const Graph& graph, const Plan& plan);

/// The layout in which a constant or state is stored.
const Layout& stored_layout(const Plan& plan, const std::string& value);

}  // namespace tessera::plan
