#include "import/decoder.h"

#include <algorithm>

#include <fmt/core.h>

#include "import/decoder_layer.h"
#include "import/decoder_step.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/matmul.h"
#include "ir/ops/rows.h"

namespace tessera::import {
namespace {

/// The embedded tokens, with their learned positions if the model has such. Also the table of the embedding.
ValueId add_embedding(DecoderStep& step, const std::vector<ValueId>& table) {
    const DecoderSpec& spec = step.spec;
    Block embed{.name = "embed"};
    ops::BlockBuilder builder(step.graph, embed);
    ValueId x = builder.add("embedded",
                            ops::embedding(step.graph.symbols, step.rows, spec.size.vocabulary,
                                           spec.size.hidden, spec.embedding, spec.form.embedding_scale),
                            joined({step.inputs.tokens}, table));
    if (spec.size.positions > 0)
        x = builder.add("positioned",
                        ops::add_positions(step.graph.symbols, step.rows, spec.size.positions,
                                           spec.size.hidden, spec.positions, spec.form.first_position),
                        joined({step.inputs.position, x},
                               step.weight("positions_weight", spec.positions, OuterTensor::kPositions)));
    step.graph.blocks.push_back(std::move(embed));
    return x;
}

void add_rope(DecoderStep& step) {
    const std::vector<int64_t> shape = {step.limits.context, step.spec.rope_pairs};
    const DecoderForm& form = step.spec.form;
    if (form.has(LayerRope::kGlobal))
        step.rope = {step.constant("rope_cos", ElementType::kF32, shape, {kRopeCosSource}),
                     step.constant("rope_sin", ElementType::kF32, shape, {kRopeSinSource})};
    if (form.has(LayerRope::kLocal))
        step.local_rope = {step.constant("local_rope_cos", ElementType::kF32, shape, {kLocalRopeCosSource}),
                           step.constant("local_rope_sin", ElementType::kF32, shape, {kLocalRopeSinSource})};
}

void add_layers(DecoderStep& step, ValueId& x) {
    const std::vector<LayerGroup> groups = group_layers(step.spec);
    for (size_t i = 0; i < groups.size(); ++i) {
        Block block{.name = groups.size() == 1 ? "layer" : fmt::format("layer_{}", i + 1),
                    .repeat = groups[i].repeats,
                    .carried_in = x};
        for (int64_t offset = 0; offset < groups[i].period; ++offset)
            x = build_layer(step, block, groups[i], offset, x);
        block.carried_out = x;
        step.graph.blocks.push_back(std::move(block));
    }
}

/// The rows are selected first: only their logits are computed.
void add_head(DecoderStep& step, ValueId x, const std::vector<ValueId>& embedding) {
    const DecoderSpec& spec = step.spec;
    const Dim rows("R");
    Block block{.name = "head"};
    ops::BlockBuilder builder(step.graph, block, step.rounding());
    std::vector<ValueId> norm = step.weight("final_norm_weight", spec.final_norm, OuterTensor::kFinalNorm);
    if (spec.final_norm_bias)
        norm = joined(std::move(norm), step.weight("final_norm_bias_weight", *spec.final_norm_bias,
                                                   OuterTensor::kFinalNormBias));
    const ops::WeightFormat format = spec.is_tied ? spec.embedding : spec.head;
    const std::vector<ValueId> head =
        spec.is_tied ? embedding : step.weight("head_weight", format, OuterTensor::kHead);
    const ValueId selected =
        builder.add("selected", ops::select_rows(step.graph.symbols, rows, step.rows, spec.size.hidden),
                    {step.inputs.rows, x});
    const ops::Activation form = activation_of(spec.policy, std::span(&format, 1), spec.size.hidden);
    const ValueId normed = builder.add("final_normed", step.norm(), joined({selected}, norm),
                                       step.normed_type(selected, computed_type(form)));
    const bool is_capped = spec.form.logits_cap != 0;
    ValueId logits =
        builder.add(is_capped ? "scores" : "logits",
                    ops::matmul(step.graph.symbols, {rows, spec.size.vocabulary, spec.size.hidden}, format,
                                std::nullopt, form),
                    joined(ops::factor_operands(builder, "final_normed", normed, form), head));
    if (is_capped)
        logits = builder.add(
            "logits", ops::soft_cap(step.graph.symbols, rows, spec.size.vocabulary, spec.form.logits_cap),
            {logits});
    step.graph.outputs = {logits};
    // A norm of its own: what the head reads may be rounded, or be in blocks.
    if (spec.gives_hidden)
        step.graph.outputs.push_back(builder.add("hidden", step.norm(), joined({selected}, norm),
                                                 step.normed_type(selected, ElementType::kF32)));
    step.graph.blocks.push_back(std::move(block));
}

}  // namespace

std::vector<LayerGroup> group_layers(const DecoderSpec& spec) {
    std::vector<int> kinds;
    for (size_t i = 0; i < spec.layers.size(); ++i) {
        size_t first = 0;
        while (!(spec.layers[first] == spec.layers[i] && spec.form.layers[first] == spec.form.layers[i]))
            ++first;
        kinds.push_back(static_cast<int>(first));
    }
    return repeating_groups(kinds);
}

Graph build_decoder(const DecoderSpec& spec, const StepLimits& limits) {
    StepInputs inputs;
    Graph graph = start_step(spec.name, limits, inputs);
    DecoderStep step{.spec = spec, .limits = limits, .graph = std::move(graph), .inputs = inputs};
    const std::vector<ValueId> table =
        step.weight("embedding_weight", spec.embedding, OuterTensor::kEmbedding);
    ValueId x = add_embedding(step, table);
    add_rope(step);
    add_layers(step, x);
    add_head(step, x, table);
    return std::move(step.graph);
}

}  // namespace tessera::import
