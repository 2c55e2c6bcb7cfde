#pragma once

#include <cstdint>
#include <string>

namespace tessera::distribution {

struct RandomGraphOptions {
    int levels = 1;
    int most_operators = 3;
};

/// A small graph without a limit of the memory, as the text of a `.dist` file: products, maps, rows shared by
/// all, reductions with post-expressions, transposes, gathers, windows, grouped heads, causal predicates and
/// streaming softmax, over values that several operators read, on random devices.
std::string random_graph_text(uint64_t seed, const RandomGraphOptions& options);

}  // namespace tessera::distribution
