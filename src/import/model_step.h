#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/model_spec.h"
#include "import/step.h"
#include "ir/graph.h"

/// The state that the blocks of a model share while it is built.
namespace tessera::import {

/// The rotary tables of some layers.
struct RopeTablesOfStep {
    ValueId cos, sin;
};

struct ModelStep {
    const ModelSpec& spec;
    const StepLimits& limits;
    Graph graph;
    StepInputs inputs;
    std::optional<ValueId> seats = {};  ///< once a recurrence is there
    std::map<std::string, RopeTablesOfStep> ropes;
    /// Tensors of the embedding, which the head may read, too.
    std::map<std::string, std::vector<ValueId>> shared;
    Dim rows{"T"};

    /// The seat of each sequence (step.h).
    ValueId seat();
    ValueId value(Value value);
    ValueId constant(std::string name, ElementType type, const std::vector<int64_t>& shape,
                     std::vector<std::string> sources);
    /// A constant for each operand of the weight's format: "NAME", or "NAME_q", "NAME_d", ..
    std::vector<ValueId> weight(const std::string& name, ops::WeightFormat format,
                                const std::vector<int64_t>& shape, const std::vector<std::string>& sources);
    Rounding rounding() const;
};

}  // namespace tessera::import
