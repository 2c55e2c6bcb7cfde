#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/decoder_form.h"
#include "import/decoder_tensors.h"
#include "import/policy.h"
#include "import/repeating_groups.h"
#include "import/step.h"
#include "ir/graph.h"
#include "ir/ops/rope.h"

namespace tessera::import {

/// A decoder-only transformer with grouped-query attention. Architectures differ in the tensors that their
/// layers have, norms before or behind a branch and a gate among them, and in its form.
struct DecoderSpec {
    std::string name;
    DecoderSize size;
    double epsilon = 1e-6;
    ops::RopeForm rope_form = ops::RopeForm::kHalves;
    int64_t rope_pairs = 0;  ///< of elements of a head that are rotated together
    bool is_tied = false;    ///< the head is the embedding
    TensorNames names;
    ops::WeightFormat embedding = ops::WeightFormat::kF32;
    ops::WeightFormat positions = ops::WeightFormat::kF32;
    ops::WeightFormat final_norm = ops::WeightFormat::kF32;
    std::optional<ops::WeightFormat> final_norm_bias;
    ops::WeightFormat head = ops::WeightFormat::kF32;
    std::vector<LayerFormats> layers;
    DecoderForm form;
    Policy policy = Policy::kExact;
    ops::WeightFormat cache = ops::WeightFormat::kF32;  ///< of keys and values: a float type, or Q8_0
    bool gives_hidden = false;                          ///< the rows that the head reads are an output, too
};

/// Sources of the rotary tables, f32[context, rope_pairs].
inline constexpr const char* kRopeCosSource = "rope.cos";
inline constexpr const char* kRopeSinSource = "rope.sin";
inline constexpr const char* kLocalRopeCosSource = "rope.local.cos";
inline constexpr const char* kLocalRopeSinSource = "rope.local.sin";

/// Layers are of one kind if they have the same tensors in the same formats, rotate alike and see as far.
std::vector<LayerGroup> group_layers(const DecoderSpec& spec);

/// Blocks "embed", one for each group of layers ("layer", or "layer_1", "layer_2", ..), and "head", which
/// computes the logits of the wanted rows only. Output: logits f32[R, vocabulary]; with `gives_hidden` also
/// hidden f32[R, hidden], the rows behind the last norm, whose activations are not rounded.
Graph build_decoder(const DecoderSpec& spec, const StepLimits& limits);

}  // namespace tessera::import
