#pragma once

#include <cstdint>

#include "ir/graph_interpreter.h"

namespace tessera::testing {

/// A graph drawn from a seed, with contents for every input, constant and state. It has a symbol T (1 to 23),
/// a block that repeats and carries a value, and draws from all features of definitions: maps, reductions of
/// every monoid, sums of products, streaming softmax, windows, views, indirect reads and writes, predicates,
/// and updated state, at extents around `lanes` (1, lanes - 1, lanes, lanes + 1, primes).
struct RandomGraph {
    Graph graph;
    uint64_t seed;

    GraphCall call(int64_t tokens) const;
};

RandomGraph random_graph(uint64_t seed, int64_t lanes);

/// Every family of operators once, at one extent.
RandomGraph graph_of_every_family(uint64_t seed, int64_t lanes, int64_t extent);

}  // namespace tessera::testing
