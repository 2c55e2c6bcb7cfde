#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/architecture/part.h"
#include "import/policy.h"
#include "import/repeating_groups.h"
#include "ir/ops/weight_format.h"

namespace tessera::import {

/// A tensor of a part, with the name and the format that the checkpoint has it in.
struct SpecTensor {
    std::vector<int64_t> shape;  ///< outermost axis first; matrices are [outputs, inputs]
    std::string source;
    ops::WeightFormat format = ops::WeightFormat::kF32;
    int64_t matrices = 1;  ///< one behind the other, of the rows of each
    std::string tied;      ///< the tensor before the layers that it is
};

struct SpecPart {
    std::vector<PartStep> steps;
    std::map<std::string, SpecTensor> tensors;  ///< by their names in the text, biases included
};

/// A model: the computation of its parts, and the formats of all that they read.
struct ModelSpec {
    std::string name;
    SpecPart embed, head;
    std::vector<SpecPart> layers;
    std::string embedded, result;  ///< as in ModelParts
    std::map<std::string, ModelRope> ropes;
    bool has_source = false;                 ///< a sequence is a source text and the one made of it
    std::optional<SourceFeatures> features;  ///< in the place of the source's tokens
    bool is_encoder = false;                 ///< `head` makes vectors, and tokens see later ones
    int64_t vocabulary = 0;                  ///< tokens are below it
    std::vector<std::string> rope_names;     ///< in the order of the text
    Policy policy = Policy::kExact;
    ops::WeightFormat cache = ops::WeightFormat::kF32;  ///< of keys and values: a float type, or Q8_0
    bool gives_hidden = false;                          ///< the rows that the head reads are an output, too

    bool is_tied() const;
};

/// The name of a matrix's bias: that of "q_weight" is "q_bias_weight".
std::string bias_of(const std::string& tensor);

/// Layers are of one kind if they compute the same with tensors of the same formats.
std::vector<LayerGroup> group_layers(const ModelSpec& spec);

/// The formats of the matrices that make the keys and values of all layers.
std::vector<ops::WeightFormat> cache_makers(const ModelSpec& spec);

/// The sources of rotary tables, f32[context, pairs]: "rope.cos" and "rope.sin" of tables called rope.
std::string rope_source(const std::string& rope, bool is_cosine);

}  // namespace tessera::import
