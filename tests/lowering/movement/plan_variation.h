#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

/// Plans that a person might write: a legal plan, edited at random.
namespace tessera::testing {

/// The result of one edit.
struct Edit {
    std::string what;     ///< "loop t:4 around y"
    std::string refused;  ///< the reason; empty if the plan stayed legal
};

struct Variation {
    plan::Plan plan;
    std::vector<Edit> edits;
};

/// Treats the plan as the compiler treats a plan file: checks structure, places buffers, checks the rest.
/// @throws Error
plan::Plan placed_and_verified(const Graph& graph, plan::Plan plan);

/// `plan` after `accepted` random edits that left it legal (fewer if `attempts` were made): layouts of
/// constants, states and intermediates, places, loops, tiles, micro-kernels and their parameters, fusion,
/// fission, inner nests.
Variation vary(const Graph& graph, const plan::Plan& plan, int accepted, int attempts,
               std::mt19937_64& random);

}  // namespace tessera::testing
