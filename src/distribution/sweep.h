#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "distribution/relaxation.h"

/// The exact search: a dynamic program over the operators in order, cut by bounds.
namespace tessera::distribution {

/// Beginnings of plans are cut if relaxation + what they cost, less `offset`, exceeds `most`.
struct Cut {
    Relaxation* relaxation;
    double offset = 0;
    double most = std::numeric_limits<double>::infinity();
    bool ranks = true;  ///< beginnings with low values of such cuts are kept if there are too many
};

struct SweepOptions {
    size_t width = 1;   ///< beginnings that survive a step, at most
    int64_t nodes = 0;  ///< beginnings looked at, at most
};

struct SweepResult {
    std::vector<int> choices;  ///< of each operator; empty if nothing was found
    Price price;
    /// No plan within the cuts that was not looked at has a lower value; infinity if all were.
    double lost = std::numeric_limits<double>::infinity();
    bool is_complete = true;  ///< false if the nodes did not suffice
    int64_t nodes = 0;
};

/// @param trees of each value, which price what has ended; with an objective of both, prices are fronts
/// @param cuts at least one, which ranks
SweepResult sweep(const SearchGraph& graph, const std::vector<int>& order, std::vector<FormSets>& sets,
                  std::vector<BoxTrees>& trees, const Objective& objective, const std::vector<Cut>& cuts,
                  const SweepOptions& options);

}  // namespace tessera::distribution
