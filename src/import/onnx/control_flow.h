#pragma once

#include <functional>
#include <vector>

#include "import/onnx/call.h"

namespace tessera::import::onnx {

/// Imports the nodes of a body inside of the scope of its node, and returns the body's results.
using RunBody =
    std::function<std::vector<Operand>(const GraphText& body, const std::vector<Operand>& inputs)>;

/// True of If, Loop and Scan.
bool is_control_flow(const NodeText& node);
/// The results of the node: an If is the branch that its condition chooses, a Loop or Scan its body, once for
/// each turn. @throws Error where the condition of a Loop, or how often a body runs, follows from data
std::vector<Operand> control_flow(const Call& call, const RunBody& run);

}  // namespace tessera::import::onnx
