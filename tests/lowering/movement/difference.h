#pragma once

#include <string>

#include "ir/graph_interpreter.h"

namespace tessera::testing {

/// Tolerance for results of a program, or of its C++ code, against those of the graph: both round to the
/// types of the graph alike, and differ by the order of sums and the last bits of functions.
inline constexpr double kTolerance = 3e-6;

/// The largest difference of two results over outputs and states, and where it is: beside the range of all
/// expected values, and beside the largest one of its row, the last axis. A large row elsewhere would hide a
/// mistake from the former.
struct Difference {
    double relative = 0;
    std::string where;
    double of_row = 0;
    std::string where_in_row;
};
/// `smallest`: the lower limit of ranges and row maxima, as large as terms that may cancel.
Difference difference(const GraphResult& got, const GraphResult& expected, double smallest = 1e-3);

}  // namespace tessera::testing
