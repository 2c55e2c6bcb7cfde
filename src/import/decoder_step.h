#pragma once

#include <string>
#include <vector>

#include "import/decoder.h"
#include "ir/ops/activation.h"

/// The state that the blocks of a decoder share while it is built.
namespace tessera::import {

/// The rotary tables of some layers.
struct RopeTablesOfStep {
    ValueId cos, sin;
};

struct DecoderStep {
    const DecoderSpec& spec;
    const StepLimits& limits;
    Graph graph;
    StepInputs inputs;
    RopeTablesOfStep rope, local_rope;  ///< only where a layer takes them
    Dim rows{"T"};

    ValueId value(Value value);
    ValueId constant(std::string name, ElementType type, const std::vector<int64_t>& shape,
                     std::vector<std::string> sources);
    /// A constant for each operand of the weight's format: "NAME", or "NAME_q", "NAME_d", ..
    std::vector<ValueId> weight(const std::string& name, ops::WeightFormat format,
                                const std::vector<int64_t>& shape, const std::vector<std::string>& sources);
    std::vector<ValueId> weight(const std::string& name, ops::WeightFormat format, OuterTensor tensor);
    Rounding rounding() const;
    /// The type of a normalised X.
    TensorType normed_type(ValueId x, ElementType element) const;
    /// The composite that normalises in the model's way.
    Composite norm() const;
};

/// An activation that products read.
struct Factor {
    ops::Activation form;
    std::vector<ValueId> operands;
};

/// Operands of a node: activations, then those of its weight.
std::vector<ValueId> joined(std::vector<ValueId> operands, const std::vector<ValueId>& weight);

}  // namespace tessera::import
