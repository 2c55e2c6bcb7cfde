#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "distribution/spmd/distribute_model.h"

/// From a graph and its distribution to the program of each device (paper 000, 3.1.3).
namespace tessera::spmd {

/// The part of a constant that a device holds.
struct ConstantPart {
    ValueId whole;                     ///< in the graph that was distributed
    std::vector<facts::Range> ranges;  ///< of each axis
};

struct LocalGraph {
    /// Values with the shapes of shards. Boxes are composites named as collectives, "all_reduce", with the
    /// attributes `value` (the name of the whole value), `level`, `count` of devices, `from` and `to`
    /// (forms), and `from_extent` and `to_extent` of the whole axes that are split at that level.
    Graph graph;
    std::map<std::string, ConstantPart> constants;  ///< by name in the local graph
};

/// Name of the composite that a box becomes: "all_gather", ..
std::string composite_name(distribution::Collective collective);

/// The program of the device with these coordinates. All devices have the same nodes and boxes in one order;
/// shapes differ where a split is ragged. The sources of a constant's part are named NAME[0:2,
/// 0:576]@REPETITION.
/// @pre the plan has been found, of this graph
LocalGraph shard(const Graph& graph, const ModelDistribution& plan, std::span<const int64_t> device);

/// All devices in order, the innermost level fastest.
std::vector<std::vector<int64_t>> all_devices(const distribution::Placement& placement);

}  // namespace tessera::spmd
