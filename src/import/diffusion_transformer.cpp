#include "import/diffusion_transformer.h"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "ir/ops/block_builder.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/layer_norm.h"
#include "ir/ops/matmul.h"
#include "ir/ops/rows.h"

namespace tessera::import {
namespace {

ops::WeightFormat format_of(ElementType type) {
    if (type == ElementType::kF32) return ops::WeightFormat::kF32;
    return type == ElementType::kF16 ? ops::WeightFormat::kF16 : ops::WeightFormat::kBF16;
}

class DiffusionBuilder {
public:
    DiffusionBuilder(const std::string& name, const DiffusionShape& shape)
        : shape_(shape), config_(shape.config), graph_{.name = name} {}

    Graph build() {
        latents_ = input("latents", ElementType::kF32,
                         {shape_.images, config_.in_channels, config_.side, config_.side});
        time_ = input("time", ElementType::kF32, {shape_.images, kTimeWidth});
        label_ = input("label", ElementType::kI32, {shape_.images});
        embed();
        layers();
        head();
        return std::move(graph_);
    }

private:
    ValueId value(Value value) {
        graph_.values.push_back(std::move(value));
        return {static_cast<int>(graph_.values.size()) - 1};
    }
    ValueId input(const char* name, ElementType type, std::vector<Dim> shape) {
        return value(
            {.name = name, .kind = ValueKind::kInput, .type = {.element = type, .shape = std::move(shape)}});
    }
    ValueId constant(const std::string& name, std::vector<Dim> shape) {
        std::vector<std::string> sources;
        for (int64_t i = 0; i < repeats_; ++i)
            sources.push_back(repeats_ == 1 ? name : fmt::format("layers.{}.{}", i, name));
        return value({.name = name,
                      .kind = ValueKind::kConstant,
                      .type = {.element = shape_.weight, .shape = std::move(shape)},
                      .sources = std::move(sources)});
    }
    /// A matrix with a bias.
    ValueId linear(ops::BlockBuilder& builder, const std::string& node, int64_t rows, int64_t outputs,
                   int64_t inputs, ValueId x) {
        const ValueId weight = constant(node + "_weight", {outputs, inputs});
        const ValueId bias = constant(node + "_bias", {outputs});
        return builder.add(node,
                           ops::matmul({}, {rows, outputs, inputs}, format_of(shape_.weight), shape_.weight),
                           {x, weight, bias});
    }
    /// silu(condition) and its product, which the modulated norms and gates read.
    ValueId modulation(ops::BlockBuilder& builder, const std::string& prefix, int64_t width) {
        const ValueId activated =
            builder.add(prefix + "condition",
                        ops::activated(ops::ActivationFunction::kSilu, {}, shape_.images, config_.hidden()),
                        {condition_});
        return linear(builder, prefix + "modulation", shape_.images, width, config_.hidden(), activated);
    }
    ValueId normed(ops::BlockBuilder& builder, const std::string& node, ValueId x, ValueId by, int64_t width,
                   int64_t shift, int64_t scale) {
        const int64_t rows = shape_.rows(), hidden = config_.hidden();
        const ValueId mean = builder.add(node + "_mean", ops::layer_mean({}, {rows}, hidden), {x});
        const ValueId reciprocal = builder.add(
            node + "_reciprocal", ops::layer_deviation({}, {rows}, hidden, config_.epsilon), {x, mean});
        return builder.add(node, modulated_norm(shape_, width, shift, scale), {x, mean, reciprocal, by, by});
    }

    void embed() {
        Block block{.name = "embed"};
        ops::BlockBuilder builder(graph_, block);
        const int64_t hidden = config_.hidden();
        const ValueId patch_weight =
            constant("patch_weight", {hidden, config_.in_channels, config_.patch, config_.patch});
        const ValueId patch_bias = constant("patch_bias", {hidden});
        const ValueId patches =
            builder.add("patches", patch_embedding(shape_), {latents_, patch_weight, patch_bias});
        x_ = builder.add("positioned", add_patch_positions(shape_),
                         {patches, constant("positions", {config_.patches(), hidden})});
        const ValueId up = linear(builder, "time_up", shape_.images, hidden, kTimeWidth, time_);
        const ValueId activated =
            builder.add("time_activated",
                        ops::activated(ops::ActivationFunction::kSilu, {}, shape_.images, hidden), {up});
        const ValueId time = linear(builder, "time_embedded", shape_.images, hidden, hidden, activated);
        const ValueId label = builder.add(
            "label_embedded",
            ops::embedding({}, shape_.images, config_.classes + 1, hidden, format_of(shape_.weight)),
            {label_, constant("label_table", {config_.classes + 1, hidden})});
        condition_ = builder.add("time_and_label", ops::add({}, shape_.images, hidden), {time, label});
        graph_.blocks.push_back(std::move(block));
    }

    /// One layer: shift, scale and gate of attention, then those of the feed-forward.
    void layers() {
        repeats_ = config_.layers;
        Block block{.name = "layer", .repeat = repeats_, .carried_in = x_};
        ops::BlockBuilder builder(graph_, block);
        const int64_t hidden = config_.hidden(), rows = shape_.rows(), width = 6 * hidden;
        const ValueId by = modulation(builder, "layer_", width);
        const ValueId attended =
            attention(builder, normed(builder, "layer_attention_normed", x_, by, width, 0, hidden));
        const ValueId middle = builder.add("layer_attention_residual",
                                           gated_residual(shape_, width, 2 * hidden), {x_, by, attended});
        const ValueId input =
            normed(builder, "layer_feed_forward_normed", middle, by, width, 3 * hidden, 4 * hidden);
        const ValueId up = linear(builder, "layer_up", rows, 4 * hidden, hidden, input);
        const ValueId activated =
            builder.add("layer_activated",
                        ops::activated(ops::ActivationFunction::kGeluTanh, {}, rows, 4 * hidden), {up});
        const ValueId down = linear(builder, "layer_down", rows, hidden, 4 * hidden, activated);
        x_ = builder.add("layer_feed_forward_residual", gated_residual(shape_, width, 5 * hidden),
                         {middle, by, down});
        block.carried_out = x_;
        graph_.blocks.push_back(std::move(block));
        repeats_ = 1;
    }

    ValueId attention(ops::BlockBuilder& builder, ValueId x) {
        const int64_t hidden = config_.hidden(), rows = shape_.rows();
        const ValueId q = linear(builder, "layer_q", rows, hidden, hidden, x);
        const ValueId k = linear(builder, "layer_k", rows, hidden, hidden, x);
        const ValueId v = linear(builder, "layer_v", rows, hidden, hidden, x);
        const ValueId scores = builder.add("layer_scores", patch_scores(shape_), {q, k});
        const std::vector<ValueId> sums = builder.add_all("layer_attend", patch_attend(shape_), {scores, v});
        const ValueId attended = builder.add("layer_attended", patch_attended(shape_), {sums[2], sums[1]});
        return linear(builder, "layer_output", rows, hidden, hidden, attended);
    }

    void head() {
        Block block{.name = "head"};
        ops::BlockBuilder builder(graph_, block);
        const int64_t hidden = config_.hidden(), width = 2 * hidden;
        const ValueId by = modulation(builder, "head_", width);
        const ValueId input = normed(builder, "head_normed", x_, by, width, 0, hidden);
        const ValueId patches = linear(builder, "noise_patches", shape_.rows(),
                                       config_.patch * config_.patch * config_.out_channels, hidden, input);
        graph_.outputs = {builder.add("noise", unpatched(shape_), {patches})};
        graph_.blocks.push_back(std::move(block));
    }

    const DiffusionShape& shape_;
    const DiffusionConfig& config_;
    Graph graph_;
    int64_t repeats_ = 1;  ///< of the block that is being built
    ValueId latents_, time_, label_, x_, condition_;
};

}  // namespace

Graph build_diffusion_transformer(const std::string& name, const DiffusionShape& shape) {
    return DiffusionBuilder(name, shape).build();
}

}  // namespace tessera::import
