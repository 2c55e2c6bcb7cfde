#pragma once

#include <string>

#include "ir/graph_interpreter.h"

namespace tessera::testing {

/// The largest difference of two results over outputs and states, and where it is: beside the range of all
/// expected values (at least 1e-3), and beside the largest of its own row, the last axis. A row is worth
/// looking at alone, since a large one elsewhere hides a mistake in it; what is lost where large terms cancel
/// counts there, too, so that its bound is a wider one.
struct Difference {
    double relative = 0;
    std::string where;
    double of_row = 0;
    std::string where_in_row;
};
Difference difference(const GraphResult& got, const GraphResult& expected);

}  // namespace tessera::testing
