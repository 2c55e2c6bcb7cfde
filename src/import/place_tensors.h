#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/part.h"
#include "import/expert_weights.h"
#include "import/tensor_views.h"
#include "import/weights.h"

namespace tessera::import {

/// The names of the tensors of one part.
struct PlacedPart {
    std::map<std::string, std::string> sources;  ///< by the names of the text; of biases as bias_of says
    std::vector<std::string> parts_of_text;  ///< whole names that the text has for this part, in any variant
    std::vector<std::string> unused;         ///< whole names of stored tensors that are computed anew
};

/// The places of a model's tensors in a checkpoint: the names of its own, of which some are parts of stored
/// ones.
struct PlacedTensors {
    PlacedPart embed, head;
    std::vector<PlacedPart> layers;
    std::string before_number;  ///< the beginning of all names in layers: "model.layers."
    std::vector<TensorView> views;
    std::vector<ExpertStack> stacks;
};

/// Finds the names under which the checkpoint stores each tensor. A folder that was saved without its head
/// lacks the first word of all names ("model."), and of an embedding that is the head as well either may be
/// stored. A tensor that has none of its names gets the first one, and is found missing by it. Without a
/// checkpoint all are there.
PlacedTensors place_tensors(const ModelConfig& config, const ModelParts& parts,
                            const WeightSource* checkpoint);

}  // namespace tessera::import
