#include "import/decoder_layer.h"

#include <cmath>

#include <fmt/core.h>

#include "ir/ops/attention.h"
#include "ir/ops/block_builder.h"
#include "ir/ops/cache_update.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/experts.h"
#include "ir/ops/matmul.h"
#include "ir/ops/reshape.h"

namespace tessera::import {
namespace {

/// Builds one layer of a group, `offset` layers behind its first one.
class LayerBuilder {
    using enum LayerTensor;

public:
    LayerBuilder(DecoderStep& step, Block& block, const LayerGroup& group, int64_t offset)
        : step_(step),
          form_(step.spec.form),
          builder_(step.graph, block, step.rounding()),
          group_(group),
          layer_(group.first + offset),
          prefix_(group.period == 1 ? block.name + "_" : fmt::format("{}_{}_", block.name, offset + 1)) {}

    ValueId build(ValueId x) {
        const Factor attended = attention(
            normed("attention_normed", kAttentionNorm, kAttentionNormBias, x, {kQuery, kKey, kValue}));
        const ValueId projected = linear("output", attended, kOutput, kOutputBias);
        const ValueId middle =
            add("attention_residual", x, post_normed("attention_post_normed", kAttentionPostNorm, projected));
        const ValueId fed =
            format(kRouter) ? experts(middle) : linear("down", feed_forward(middle), kDown, kDownBias);
        return add("feed_forward_residual", middle,
                   post_normed("feed_forward_post_normed", kFeedForwardPostNorm, fed));
    }

private:
    ops::Symbols symbols() const { return step_.graph.symbols; }
    const LayerKind& kind() const { return form_.layers[static_cast<size_t>(layer_)]; }
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

    ValueId norm(const std::string& node, LayerTensor scale, std::optional<LayerTensor> bias, ValueId x,
                 ElementType result = ElementType::kF32) {
        std::vector<ValueId> operands = joined({x}, weight(scale));
        if (bias && format(*bias)) operands = joined(std::move(operands), weight(*bias));
        return builder_.add(prefix_ + node, step_.norm(), std::move(operands), step_.normed_type(x, result));
    }

    /// X itself where the model does not normalise it.
    ValueId post_normed(const std::string& node, LayerTensor scale, ValueId x) {
        return format(scale) ? norm(node, scale, std::nullopt, x) : x;
    }

    Factor factor(const std::string& node, ValueId x, const ops::Activation& form) {
        return {form, ops::factor_operands(builder_, prefix_ + node, x, form)};
    }

    /// The input of a branch, normalised if the model does that before it.
    Factor normed(const std::string& node, LayerTensor scale, LayerTensor bias, ValueId x,
                  std::initializer_list<LayerTensor> readers) {
        const ops::Activation form = input_of(readers);
        const ElementType type = computed_type(form);
        if (format(scale)) return factor(node, norm(node, scale, bias, x, type), form);
        const std::string plain = node.substr(0, node.rfind('_')) + "_input";
        if (type != ElementType::kF32)
            x = builder_.add(prefix_ + plain,
                             ops::rounded_to(symbols(), step_.rows, step_.spec.size.hidden, type), {x});
        return factor(plain, x, form);
    }

    ValueId linear(const std::string& node, const Factor& x, LayerTensor matrix,
                   std::optional<LayerTensor> bias) {
        const std::vector<int64_t> shape = shape_of(matrix, step_.spec.size);
        std::vector<ValueId> operands = joined(x.operands, weight(matrix));
        std::optional<ElementType> bias_type;
        if (bias && format(*bias)) {
            bias_type = ops::element_of(*format(*bias));
            operands = joined(std::move(operands), weight(*bias));
        }
        return builder_.add(prefix_ + node,
                            ops::matmul(symbols(), {step_.rows, shape[0], shape[1]}, format(matrix).value(),
                                        bias_type, x.form),
                            std::move(operands));
    }

    ValueId add(const std::string& node, ValueId x, ValueId y) {
        return builder_.add(prefix_ + node, ops::add(symbols(), step_.rows, step_.spec.size.hidden), {x, y});
    }

    /// The input of the last matrix of the feed-forward.
    Factor feed_forward(ValueId x) {
        const int64_t width = step_.spec.size.feed_forward;
        const ops::Activation form = input_of({kDown});
        const ElementType type = computed_type(form);
        if (!format(kGate)) {
            const Factor input =
                normed("feed_forward_normed", kFeedForwardNorm, kFeedForwardNormBias, x, {kUp});
            const ValueId up = linear("up", input, kUp, kUpBias);
            const auto op = ops::activated(form_.activation, symbols(), step_.rows, width, type);
            return factor("activated", builder_.add(prefix_ + "activated", op, {up}), form);
        }
        const Factor input =
            normed("feed_forward_normed", kFeedForwardNorm, kFeedForwardNormBias, x, {kGate, kUp});
        const ValueId gate = linear("gate", input, kGate, kGateBias);
        const ValueId up = linear("up", input, kUp, kUpBias);
        const std::string node = form_.activation == ops::ActivationFunction::kSilu ? "swiglu" : "gated";
        const auto op = ops::gated(form_.activation, symbols(), step_.rows, width, type);
        return factor(node, builder_.add(prefix_ + node, op, {gate, up}), form);
    }

    /// Each token's share of the places, [rows, chosen]. `scores`: [rows, experts].
    ValueId shares(const ops::ExpertShape& shape, ValueId scores, ValueId choice) {
        const ValueId largest =
            builder_.add(prefix_ + "largest_score", ops::largest_score(symbols(), shape), {scores});
        const ValueId weights = builder_.add(prefix_ + "place_weights", ops::place_weights(symbols(), shape),
                                             {choice, scores, largest});
        const ValueId sum =
            form_.shares_of_chosen
                ? builder_.add(prefix_ + "places_sum", ops::sum_of_places(symbols(), shape), {weights})
                : builder_.add(prefix_ + "weights_sum", ops::sum_of_weights(symbols(), shape),
                               {scores, largest});
        return builder_.add(prefix_ + "shares", ops::place_shares(symbols(), shape), {weights, sum});
    }

    ValueId expert_matmul(const std::string& node, const ops::ExpertShape& shape, ValueId choice, ValueId x,
                          LayerTensor matrix, bool has_own_inputs) {
        const std::vector<int64_t> all = shape_of(matrix, step_.spec.size);
        return builder_.add(prefix_ + node,
                            ops::expert_matmul(symbols(), shape, all[0] / shape.experts, all[1],
                                               format(matrix).value(), has_own_inputs),
                            joined({choice, x}, weight(matrix)));
    }

    /// The feed-forward of a layer with experts. They read F32, whatever the policy allows.
    ValueId experts(ValueId x) {
        const DecoderSize& size = step_.spec.size;
        const ops::ExpertShape shape{step_.rows, size.experts, size.experts_chosen};
        const ValueId input = norm("feed_forward_normed", kFeedForwardNorm, kFeedForwardNormBias, x);
        const ValueId scores = linear("router", {ops::Activation{}, {input}}, kRouter, std::nullopt);
        const ValueId ranks =
            builder_.add(prefix_ + "ranks", ops::expert_ranks(symbols(), shape), {scores, scores});
        const ValueId choice =
            builder_.add(prefix_ + "choice", ops::chosen_experts(symbols(), shape), {ranks});
        const ValueId gate = expert_matmul("expert_gate", shape, choice, input, kExpertGate, false);
        const ValueId up = expert_matmul("expert_up", shape, choice, input, kExpertUp, false);
        const ValueId gated = builder_.add(
            prefix_ + "expert_gated",
            ops::expert_gated(form_.activation, symbols(), shape, size.expert_width), {gate, up});
        const ValueId down = expert_matmul("expert_down", shape, choice, gated, kExpertDown, true);
        return builder_.add(prefix_ + "experts", ops::sum_of_experts(symbols(), shape, size.hidden),
                            {down, shares(shape, scores, choice)});
    }

    ValueId split(const std::string& node, ValueId x, int64_t heads) {
        return builder_.add(prefix_ + node,
                            ops::split_heads(symbols(), step_.rows, heads, step_.spec.size.head_width), {x});
    }

    /// Queries or keys: heads apart, normalised if the model does that, each head alone or all together, then
    /// rotated.
    ValueId rotated(const std::string& node, ValueId x, int64_t heads, LayerTensor head_norm,
                    LayerTensor projection_norm) {
        if (format(projection_norm)) x = norm(node + "_projection_normed", projection_norm, std::nullopt, x);
        ValueId y = split(node + "_heads", x, heads);
        if (format(head_norm)) y = norm(node + "_normed", head_norm, std::nullopt, y);
        if (kind().rope == LayerRope::kNone) return y;
        const RopeTablesOfStep& tables = kind().rope == LayerRope::kLocal ? step_.local_rope : step_.rope;
        const ops::RopeShape shape{step_.rows, heads, step_.spec.size.head_width, step_.limits.context,
                                   2 * step_.spec.rope_pairs};
        return builder_.add(prefix_ + node + "_rotated", ops::rope(symbols(), shape, step_.spec.rope_form),
                            {step_.inputs.position, y, tables.cos, tables.sin});
    }

    /// `x` [rows, cache heads, width] in its slots of a new state.
    ValueId stored(const std::string& node, ValueId x, int64_t width, ElementType type) {
        const int64_t heads = step_.spec.size.cache_heads;
        const ValueId state =
            step_.value({.name = prefix_ + node,
                         .kind = ValueKind::kState,
                         .type = {.element = type, .shape = {Dim("P"), ops::kPageSlots, heads, width}}});
        return builder_.update(prefix_ + node + "_update",
                               ops::cache_update(symbols(), step_.rows, Dim("P"), heads, width, type,
                                                 builder_.graph()[x].type.element),
                               {step_.inputs.slot, x}, state);
    }

    /// The cache behind this step: a state, or one of bytes and one of their scales.
    std::vector<ValueId> cached(const std::string& node, ValueId x) {
        const DecoderSize& size = step_.spec.size;
        if (const auto type = ops::element_of(step_.spec.cache))
            return {stored(node, x, size.head_width, *type)};
        const ops::Activation& blocks = ops::kInt8Blocks;
        const ValueId merged =
            builder_.add(prefix_ + node + "_merged",
                         ops::merge_heads(symbols(), step_.rows, size.cache_heads, size.head_width), {x});
        const std::vector<ValueId> parts = ops::factor_operands(builder_, prefix_ + node, merged, blocks);
        const auto store = [&](const char* part, ValueId value, int64_t width, ElementType type) {
            const ValueId heads = builder_.add(prefix_ + node + part + "_heads",
                                               ops::split_heads(symbols(), step_.rows, size.cache_heads,
                                                                width, builder_.graph()[value].type.element),
                                               {value});
            return stored(node + part, heads, width, type);
        };
        return {store("_q", parts[0], size.head_width, ElementType::kI8),
                store("_d", parts[1], size.head_width / blocks.block, ElementType::kF16)};
    }

    ops::AttentionForm attention_form() const {
        const bool is_exact = step_.spec.policy == Policy::kExact;
        const double width = static_cast<double>(step_.spec.size.head_width);
        return {.scale = form_.attention_scale == 0 ? 1 / std::sqrt(width) : form_.attention_scale,
                .rounded = is_exact ? ElementType::kF32 : ops::type_of_attended(step_.spec.cache),
                .cap = form_.attention_cap,
                .window = kind().is_windowed && form_.window < step_.limits.context ? form_.window : 0,
                .has_scales = !ops::element_of(step_.spec.cache)};
    }

    Factor attention(const Factor& x) {
        const DecoderSize& size = step_.spec.size;
        const StepInputs& in = step_.inputs;
        const ValueId q = linear("q", x, kQuery, kQueryBias);
        const ValueId k = linear("k", x, kKey, kKeyBias);
        const ValueId v = linear("v", x, kValue, kValueBias);
        const ValueId queries = rotated("q", q, size.heads, kQueryNorm, kQueryProjectionNorm);
        const std::vector<ValueId> keys =
            cached("k_cache", rotated("k", k, size.cache_heads, kKeyNorm, kKeyProjectionNorm));
        const std::vector<ValueId> values = cached("v_cache", split("v_heads", v, size.cache_heads));
        const ops::Activation form = input_of({kOutput});
        const ElementType result = computed_type(form);
        std::vector<ValueId> operands{queries, keys[0], values[0], in.first, in.length, in.start, in.page};
        if (keys.size() > 1) operands.insert(operands.end(), {keys[1], values[1]});
        const ValueId attended = builder_.add(prefix_ + "attention", ops::attention(attention_form()),
                                              std::move(operands), step_.normed_type(queries, result));
        const ValueId merged = builder_.add(
            prefix_ + "attended",
            ops::merge_heads(symbols(), step_.rows, size.heads, size.head_width, result), {attended});
        return factor("attended", merged, form);
    }

    DecoderStep& step_;
    const DecoderForm& form_;
    ops::BlockBuilder builder_;
    const LayerGroup group_;
    const int64_t layer_;  ///< of the first repetition
    const std::string prefix_;
};

}  // namespace

ValueId build_layer(DecoderStep& step, Block& block, const LayerGroup& group, int64_t offset, ValueId x) {
    return LayerBuilder(step, block, group, offset).build(x);
}

}  // namespace tessera::import
