#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/graph_interpreter.h"
#include "lowering/plan/plan.h"

/// Small graphs, one under each micro-kernel: the files of tests/golden show the lowered programs and the
/// code.
namespace tessera::testing {

/// A graph, and the essential parts of a plan.
struct Example {
    std::string graph;
    std::vector<std::string> nests;  ///< of block `main`
    std::map<std::string, Layout> stored;
    std::map<std::string, plan::TensorPlan> tensors;
    int64_t workers = 1;  ///< with several, all meet before every kernel but the first

    Graph parsed() const;
    /// Placed and verified.
    plan::Plan planned() const;
    /// Random numbers, and positions up to each row's own; always the same.
    GraphCall call(int64_t tokens) const;
};

/// One for each micro-kernel, by its name, and further ones.
const std::map<std::string, Example>& examples();
/// Their names, and those of micro-kernels that lack one.
std::vector<std::string> example_names();

}  // namespace tessera::testing
