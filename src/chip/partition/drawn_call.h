#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/graph_interpreter.h"

namespace tessera::partition {

/// A call of a graph with contents drawn by the seed: index inputs hold 0 and 1, other numbers lie from -1 to
/// 1, integers in their range. States have contents, too.
/// @throws Error naming a symbol without a value, or with one outside its bounds
GraphCall drawn_call(const Graph& graph, std::map<std::string, int64_t> symbols, uint64_t seed,
                     const std::string& where);

/// The distance of a tensor from the expected one.
struct Distance {
    std::string name;
    double distance = 0;  ///< of an element, at most, over the range of the expected ones; infinite for NaN
    double allowed = 0;   ///< for its type: sums are added in another order, each number rounded once
};

/// The distances of outputs, then of states; for a state that repeats, the largest.
/// @pre both are of one call of the graph
std::vector<Distance> distances_of(const Graph& graph, const GraphResult& found, const GraphResult& expected);

/// The largest distance of an element, over the range of the expected ones.
double distance_of(const std::vector<double>& found, const std::vector<double>& expected);

}  // namespace tessera::partition
