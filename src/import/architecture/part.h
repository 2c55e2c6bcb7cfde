#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/model_config.h"

namespace tessera::import {

/// A line of a recurrence.
struct PartLine {
    std::string name;
    std::vector<std::string> indices;
    std::vector<int64_t> extents;  ///< of what is carried, as `indices`; 0: what it is computed from says it
    TermPtr term;
    bool is_carried = false;
};

/// One value of a part of a model, or several of a `split`: a call whose arguments are names and constants,
/// or an expression of elements whose leaves are such.
struct PartStep {
    std::vector<std::string> names;
    std::vector<std::string> indices;
    bool has_indices = false;
    std::vector<int64_t> extents;  ///< of the indices; 0 where what they read says it
    TermPtr term;                  ///< of a recurrence: a list of those of its lines
    std::string where;
    std::vector<PartLine> lines = {};  ///< of a recurrence; else empty

    const std::string& name() const { return names.front(); }
    bool is_call(std::string_view function) const { return term->is_call(function); }
    /// Another name of a value.
    bool is_alias() const { return term->kind == Term::Kind::kName; }
};

/// A tensor that a part reads, with its extents.
struct PartTensor {
    const TensorText* text = nullptr;
    std::vector<int64_t> shape;
    /// As the graph has it: a stack of matrices is one matrix.
    std::vector<int64_t> stacked_shape() const;
    int64_t matrices() const { return shape.size() == 3 ? shape[0] : 1; }
};

/// The computation of one layer, or of what is before or behind the layers, for these settings: whatever
/// depends on them alone has become a constant, and only what the result is made of is left.
struct Part {
    std::vector<PartStep> steps;  ///< each behind those that it reads
    std::map<std::string, PartTensor> tensors;
};

/// Rows of numbers in the place of a source's tokens. Token p has `taps` of them from the row at every * p +
/// first; those that are not there are zeros.
struct SourceFeatures {
    int64_t width = 0;
    int64_t taps = 1;
    int64_t every = 1;
    int64_t first = 0;
    int64_t count = 0;  ///< tokens of every source
};

/// The parts of a model.
struct ModelParts {
    Part embed, head;
    std::vector<Part> layers;
    std::string embedded;  ///< the value that the first layer reads
    bool is_encoder = false;
    bool has_source = false;  ///< a layer attends to a part of a sequence
    std::optional<SourceFeatures> features;
    std::string result;  ///< the name of the last layer's value in `head`
};

/// The input of a layer, and the name of its result.
inline constexpr const char* kLayerInput = "x";
inline constexpr const char* kLayerResult = "give";
inline constexpr const char* kLogits = "logits";
/// The rows of a token of the source, side by side.
inline constexpr const char* kFeatures = "features";
/// In place of the logits of an encoder, whose tokens see all of their text.
inline constexpr const char* kVectors = "vectors";

/// @throws Error naming the line of the text where a value is assigned twice or not at all for these settings
ModelParts parts_of(const ModelConfig& config);

}  // namespace tessera::import
