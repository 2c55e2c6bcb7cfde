#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tessera::rules {

/// Element by element operators that one other such operator reads are computed where that reads them: the
/// value between them, F32, does not exist. So are those of which it reads some elements alone, as the rows
/// of a table that is dequantised. No element is computed twice. Empty if there are none. Idempotent. It is
/// for graphs that have a node for each step of arithmetic, as those of ONNX do; what remains keeps its name.
std::optional<Graph> with_composed_maps(const Graph& graph);

/// An operator that stays apart from the one that makes an operand of it.
struct KeptApart {
    std::string reader, producer;
    std::string reason;
};

struct FusedMaps {
    Graph graph;
    std::vector<std::pair<std::string, std::string>> fused;  ///< producer and reader, by their names
    std::vector<KeptApart> apart;                            ///< maps alone, and for each operand
};

/// The same, and a map that alone reads all elements of what a fold makes, each once, is computed where the
/// fold ends: as its post-expression. For machines that run one operator after the other, whose kernels hold
/// what they fold.
FusedMaps with_fused_maps(const Graph& graph);

}  // namespace tessera::rules
