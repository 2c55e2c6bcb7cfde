#include "import/decoder.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "import/quantised/operand_tensors.h"
#include "import/repeating_groups.h"
#include "ops/attention.h"
#include "ops/block_builder.h"
#include "ops/cache_update.h"
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/reshape.h"
#include "ops/rms_norm.h"
#include "ops/rows.h"

namespace tessera::import {
namespace {

std::vector<Dim> as_dims(const std::vector<int64_t>& shape) {
    return {shape.begin(), shape.end()};
}

/// The data that all blocks share.
struct Step {
    const DecoderSpec& spec;
    const StepLimits& limits;
    Graph graph;
    StepInputs inputs;
    ValueId rope_cos, rope_sin;
    Dim rows{"T"};

    ValueId value(Value value) {
        graph.values.push_back(std::move(value));
        return {static_cast<int>(graph.values.size()) - 1};
    }
    ValueId constant(std::string name, ElementType type, const std::vector<int64_t>& shape,
                     std::vector<std::string> sources) {
        return value({.name = std::move(name),
                      .kind = ValueKind::kConstant,
                      .type = {.element = type, .shape = as_dims(shape)},
                      .sources = std::move(sources)});
    }
    /// A constant for each operand of the weight's format: "NAME", or "NAME_q", "NAME_d", ..
    std::vector<ValueId> weight(const std::string& name, ops::WeightFormat format,
                                const std::vector<int64_t>& shape, const std::vector<std::string>& sources) {
        std::vector<ValueId> operands;
        for (const ops::WeightOperand& operand : ops::info(format).operands) {
            std::vector<int64_t> extents = shape;
            extents.back() /= operand.block;
            std::vector<std::string> own;
            for (const std::string& source : sources) own.push_back(operand_source(source, operand));
            operands.push_back(
                constant(operand.name.empty() ? name : fmt::format("{}_{}", name, operand.name), operand.type,
                         extents, std::move(own)));
        }
        return operands;
    }
    std::vector<ValueId> weight(const std::string& name, ops::WeightFormat format, OuterTensor tensor) {
        return weight(name, format, shape_of(tensor, spec.size), {source_name(tensor, spec.names)});
    }
    Rounding rounding() const {
        return spec.policy == Policy::kExact ? Rounding::kExact : Rounding::kWeights;
    }
};

/// An activation that products read.
struct Factor {
    ops::Activation form;
    std::vector<ValueId> operands;
};

/// Operands of a node: activations, then those of its weight.
std::vector<ValueId> joined(std::vector<ValueId> operands, const std::vector<ValueId>& weight) {
    operands.insert(operands.end(), weight.begin(), weight.end());
    return operands;
}

/// The type of a normalised X.
TensorType normed_type(const Step& step, ValueId x, ElementType element) {
    TensorType type = step.graph[x].type;
    type.element = element;
    type.rounding = element == ElementType::kF32 ? Rounding::kExact : step.rounding();
    return type;
}

/// Builds one layer of a group, `offset` layers behind its first one.
class LayerBuilder {
    using enum LayerTensor;

public:
    LayerBuilder(Step& step, Block& block, const LayerGroup& group, int64_t offset)
        : step_(step),
          builder_(step.graph, block, step.rounding()),
          group_(group),
          layer_(group.first + offset),
          prefix_(group.period == 1 ? block.name + "_" : fmt::format("{}_{}_", block.name, offset + 1)) {}

    ValueId build(ValueId x) {
        const DecoderSize& size = step_.spec.size;
        const Factor attended =
            attention(normed("attention_normed", kAttentionNorm, x, {kQuery, kKey, kValue}));
        const ValueId projected = linear("output", attended, kOutput, kOutputBias);
        const ValueId middle = add("attention_residual", x, projected);
        const Factor normed_middle = normed("feed_forward_normed", kFeedForwardNorm, middle, {kGate, kUp});
        const ValueId gate = linear("gate", normed_middle, kGate, kGateBias);
        const ValueId up = linear("up", normed_middle, kUp, kUpBias);
        const ops::Activation form = input_of({kDown});
        const Factor activated =
            factor("swiglu",
                   builder_.add(prefix_ + "swiglu",
                                ops::swiglu(symbols(), step_.rows, size.feed_forward, computed_type(form)),
                                {gate, up}),
                   form);
        return add("feed_forward_residual", middle, linear("down", activated, kDown, kDownBias));
    }

private:
    ops::Symbols symbols() const { return step_.graph.symbols; }
    std::optional<ops::WeightFormat> format(LayerTensor tensor) const {
        return step_.spec.layers[static_cast<size_t>(layer_)][static_cast<size_t>(tensor)];
    }
    /// The form of the activation that these matrices read.
    ops::Activation input_of(std::initializer_list<LayerTensor> readers) const {
        std::vector<ops::WeightFormat> formats;
        for (const LayerTensor reader : readers) formats.push_back(format(reader).value());
        return activation_of(step_.spec.policy, formats, shape_of(*readers.begin(), step_.spec.size).back());
    }

    std::vector<ValueId> weight(LayerTensor tensor) {
        std::vector<std::string> sources;
        for (int64_t i = 0; i < group_.repeats; ++i)
            sources.push_back(source_name(tensor, layer_ + i * group_.period, step_.spec.names));
        return step_.weight(fmt::format("{}{}_weight", prefix_, name(tensor)), format(tensor).value(),
                            shape_of(tensor, step_.spec.size), sources);
    }

    ValueId norm(const std::string& node, LayerTensor scale, ValueId x,
                 ElementType result = ElementType::kF32) {
        return builder_.add(prefix_ + node, ops::rms_norm(step_.spec.epsilon), joined({x}, weight(scale)),
                            normed_type(step_, x, result));
    }

    Factor factor(const std::string& node, ValueId x, const ops::Activation& form) {
        return {form, ops::factor_operands(builder_, prefix_ + node, x, form)};
    }

    Factor normed(const std::string& node, LayerTensor scale, ValueId x,
                  std::initializer_list<LayerTensor> readers) {
        const ops::Activation form = input_of(readers);
        return factor(node, norm(node, scale, x, computed_type(form)), form);
    }

    ValueId linear(const std::string& node, const Factor& x, LayerTensor matrix, LayerTensor bias) {
        const std::vector<int64_t> shape = shape_of(matrix, step_.spec.size);
        std::vector<ValueId> operands = joined(x.operands, weight(matrix));
        std::optional<ElementType> bias_type;
        if (format(bias)) {
            bias_type = ops::element_of(*format(bias));
            operands = joined(std::move(operands), weight(bias));
        }
        return builder_.add(prefix_ + node,
                            ops::matmul(symbols(), {step_.rows, shape[0], shape[1]}, format(matrix).value(),
                                        bias_type, x.form),
                            std::move(operands));
    }

    ValueId add(const std::string& node, ValueId x, ValueId y) {
        return builder_.add(prefix_ + node, ops::add(symbols(), step_.rows, step_.spec.size.hidden), {x, y});
    }

    ValueId split(const std::string& node, ValueId x, int64_t heads) {
        return builder_.add(prefix_ + node,
                            ops::split_heads(symbols(), step_.rows, heads, step_.spec.size.head_width), {x});
    }

    /// Queries or keys: heads apart, each normalised if the model does that, then rotated.
    ValueId rotated(const std::string& node, ValueId x, int64_t heads, LayerTensor head_norm) {
        ValueId y = split(node + "_heads", x, heads);
        if (format(head_norm)) y = norm(node + "_normed", head_norm, y);
        const ops::RopeShape shape{step_.rows, heads, step_.spec.size.head_width, step_.limits.context};
        return builder_.add(prefix_ + node + "_rotated", ops::rope(symbols(), shape, step_.spec.rope_form),
                            {step_.inputs.position, y, step_.rope_cos, step_.rope_sin});
    }

    ValueId cached(const std::string& node, ValueId x) {
        const DecoderSize& size = step_.spec.size;
        const ValueId state =
            step_.value({.name = prefix_ + node,
                         .kind = ValueKind::kState,
                         .type = {.element = step_.spec.cache,
                                  .shape = {Dim("P"), ops::kPageSlots, size.cache_heads, size.head_width}}});
        return builder_.update(prefix_ + node + "_update",
                               ops::cache_update(symbols(), step_.rows, Dim("P"), size.cache_heads,
                                                 size.head_width, step_.spec.cache),
                               {step_.inputs.slot, x}, state);
    }

    Factor attention(const Factor& x) {
        const DecoderSize& size = step_.spec.size;
        const StepInputs& in = step_.inputs;
        const ValueId q = linear("q", x, kQuery, kQueryBias);
        const ValueId k = linear("k", x, kKey, kKeyBias);
        const ValueId v = linear("v", x, kValue, kValueBias);
        const ValueId queries = rotated("q", q, size.heads, kQueryNorm);
        const ValueId keys = cached("k_cache", rotated("k", k, size.cache_heads, kKeyNorm));
        const ValueId values = cached("v_cache", split("v_heads", v, size.cache_heads));
        const double scale = 1 / std::sqrt(static_cast<double>(size.head_width));
        const ops::Activation form = input_of({kOutput});
        const ElementType result = computed_type(form);
        const bool is_exact = step_.spec.policy == Policy::kExact;
        const ElementType rounded = is_exact ? ElementType::kF32 : ops::type_of_attended(step_.spec.cache);
        const ValueId attended = builder_.add(prefix_ + "attention", ops::attention(scale, rounded),
                                              {queries, keys, values, in.first, in.length, in.start, in.page},
                                              normed_type(step_, queries, result));
        const ValueId merged = builder_.add(
            prefix_ + "attended",
            ops::merge_heads(symbols(), step_.rows, size.heads, size.head_width, result), {attended});
        return factor("attended", merged, form);
    }

    Step& step_;
    ops::BlockBuilder builder_;
    const LayerGroup group_;
    const int64_t layer_;  ///< of the first repetition
    const std::string prefix_;
};

void add_layers(Step& step, ValueId& x) {
    const std::vector<LayerGroup> groups = group_layers(step.spec.layers);
    for (size_t i = 0; i < groups.size(); ++i) {
        Block block{.name = groups.size() == 1 ? "layer" : fmt::format("layer_{}", i + 1),
                    .repeat = groups[i].repeats,
                    .carried_in = x};
        for (int64_t offset = 0; offset < groups[i].period; ++offset)
            x = LayerBuilder(step, block, groups[i], offset).build(x);
        block.carried_out = x;
        step.graph.blocks.push_back(std::move(block));
    }
}

/// The rows are selected first: only their logits are computed.
void add_head(Step& step, ValueId x, const std::vector<ValueId>& embedding) {
    const DecoderSpec& spec = step.spec;
    const Dim rows("R");
    Block block{.name = "head"};
    ops::BlockBuilder builder(step.graph, block, step.rounding());
    const std::vector<ValueId> norm =
        step.weight("final_norm_weight", spec.final_norm, OuterTensor::kFinalNorm);
    const ops::WeightFormat format = spec.is_tied ? spec.embedding : spec.head;
    const std::vector<ValueId> head =
        spec.is_tied ? embedding : step.weight("head_weight", format, OuterTensor::kHead);
    const ValueId selected =
        builder.add("selected", ops::select_rows(step.graph.symbols, rows, step.rows, spec.size.hidden),
                    {step.inputs.rows, x});
    const ops::Activation form = activation_of(spec.policy, std::span(&format, 1), spec.size.hidden);
    const ValueId normed = builder.add("final_normed", ops::rms_norm(spec.epsilon), joined({selected}, norm),
                                       normed_type(step, selected, computed_type(form)));
    const ValueId logits =
        builder.add("logits",
                    ops::matmul(step.graph.symbols, {rows, spec.size.vocabulary, spec.size.hidden}, format,
                                std::nullopt, form),
                    joined(ops::factor_operands(builder, "final_normed", normed, form), head));
    step.graph.blocks.push_back(std::move(block));
    step.graph.outputs = {logits};
}

}  // namespace

std::vector<LayerGroup> group_layers(const std::vector<LayerFormats>& layers) {
    std::vector<int> kinds;
    for (const LayerFormats& layer : layers)
        kinds.push_back(static_cast<int>(std::find(layers.begin(), layers.end(), layer) - layers.begin()));
    return repeating_groups(kinds);
}

Graph build_decoder(const DecoderSpec& spec, const StepLimits& limits) {
    StepInputs inputs;
    Graph graph = start_step(spec.name, limits, inputs);
    Step step{.spec = spec, .limits = limits, .graph = std::move(graph), .inputs = inputs};

    Block embed{.name = "embed"};
    const std::vector<ValueId> table =
        step.weight("embedding_weight", spec.embedding, OuterTensor::kEmbedding);
    ValueId x = ops::BlockBuilder(step.graph, embed)
                    .add("embedded",
                         ops::embedding(step.graph.symbols, step.rows, spec.size.vocabulary, spec.size.hidden,
                                        spec.embedding),
                         joined({inputs.tokens}, table));
    step.graph.blocks.push_back(std::move(embed));

    const std::vector<int64_t> rope_shape = {limits.context, spec.size.head_width / 2};
    step.rope_cos = step.constant("rope_cos", ElementType::kF32, rope_shape, {kRopeCosSource});
    step.rope_sin = step.constant("rope_sin", ElementType::kF32, rope_shape, {kRopeSinSource});
    add_layers(step, x);
    add_head(step, x, table);
    return std::move(step.graph);
}

}  // namespace tessera::import
