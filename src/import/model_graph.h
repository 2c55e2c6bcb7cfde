#pragma once

#include "import/model_spec.h"
#include "import/step.h"
#include "ir/graph.h"

namespace tessera::import {

/// The graph of one step of a model: blocks "embed", one for each group of layers ("layer", or "layer_1",
/// "layer_2", ..), and "head", which computes the logits of the wanted rows only. Output: logits f32[R,
/// vocabulary]; with `gives_hidden` also hidden f32[R, hidden], the rows that the head multiplies, whose
/// activations are not rounded. @throws Error naming the line of the architecture's text whose values do not
/// fit.
Graph build_model(const ModelSpec& spec, const StepLimits& limits);

}  // namespace tessera::import
