#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "lowering/plan/plan.h"

/// The paths through the code that a plan takes: each micro-kernel reads and writes tensors that lie in some
/// way.
namespace tessera::testing {

struct Path {
    std::string micro_kernel;
    std::string access;   ///< "reads", "writes"
    std::string storage;  ///< one of storage_classes() or narrow_types()
    auto operator<=>(const Path&) const = default;
};

/// All kinds of places of tensors that a plan may state.
std::vector<std::string> storage_classes();

/// Names of the element types besides f32 that compiled code reads.
std::vector<std::string> narrow_types();

/// The paths of all kernels of a plan. A tensor may lie in several ways: a tile in lanes is both.
std::set<Path> paths_of(const Graph& graph, const plan::Plan& plan);

/// All declared micro-kernels times both accesses times all ways to lie and all types.
std::set<Path> all_paths();

/// Why there is no plan with this path; empty if there is one. Derived from what the micro-kernel's
/// declaration accepts:
///
/// - A result lies `in place` if it updates a state, or replaces an operand, which only a map may do. So a
///   micro-kernel that implements neither maps nor updates writes nothing in place.
/// - Random graphs have no recurrences.
/// - A combination reads the parts that the workers left, not the operands.
/// - A result has a type that the declaration lists.
/// - A result is written through a `view` only where it replaces one, so by maps only: a result that is
///   itself a view is computed by no kernel.
std::string why_impossible(const Path& path);

}  // namespace tessera::testing
