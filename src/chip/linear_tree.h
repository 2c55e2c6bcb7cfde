#pragma once

#include <vector>

#include "machine/tile_costs.h"

namespace tessera::chip {

/// A measurement: inputs, and the time that they took.
struct CostSample {
    std::vector<double> inputs;
    double cycles = 0;  ///< above 0
};

struct LinearTree {
    std::vector<machine::CostNode> nodes;
    size_t leaves() const { return (nodes.size() + 1) / 2; }
};

/// Errors relative to what was measured, of samples that the fit did not see: five parts of the samples take
/// turns.
struct FitErrors {
    double median = 0;
    double mean = 0;
    double largest = 0;
};

struct FittedTree {
    LinearTree tree;
    FitErrors errors;
};

/// Samples that a tree of this many inputs needs at least: three for each coefficient of a leaf.
constexpr size_t least_samples(size_t inputs) {
    return 3 * (inputs + 1);
}

double predict(const LinearTree& tree, const std::vector<double>& inputs);

/// A linear tree by least squares of relative errors. Each decision is the one after which two linear
/// functions fit best; how many follow each other is chosen by cross-validation. Source: paper 003, 4.3
/// (Cerliani, linear-tree). @pre at least least_samples, all with as many inputs
FittedTree fit_linear_tree(const std::vector<CostSample>& samples);

/// One linear function, a tree of one leaf, in the same way.
FittedTree fit_line(const std::vector<CostSample>& samples);

}  // namespace tessera::chip
