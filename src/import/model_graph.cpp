#include "import/model_graph.h"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "import/part_builder.h"
#include "ir/ops/rows.h"
#include "support/error.h"

namespace tessera::import {
namespace {

std::set<std::string> ropes_of(std::span<const SpecPart> parts) {
    std::set<std::string> names;
    for (const SpecPart& part : parts)
        for (const PartStep& step : part.steps) {
            if (step.is_call("rotate")) names.insert(step.term->arguments[1]->name);
            if (step.is_call("sine") || step.is_call("cosine")) names.insert(step.term->arguments[0]->name);
        }
    return names;
}

void add_ropes(ModelStep& step, std::span<const SpecPart> parts) {
    const std::set<std::string> used = ropes_of(parts);
    for (const std::string& name : step.spec.rope_names) {
        if (!used.contains(name) || step.ropes.contains(name)) continue;
        const std::vector<int64_t> shape = {step.limits.context, step.spec.ropes.at(name).pairs()};
        step.ropes[name] = {
            step.constant(name + "_cos", ElementType::kF32, shape, {rope_source(name, true)}),
            step.constant(name + "_sin", ElementType::kF32, shape, {rope_source(name, false)})};
    }
}

ValueId add_embedding(ModelStep& step) {
    Block block{.name = "embed"};
    PartBuilder builder(step, block, step.spec.embed, "", [](const SpecTensor& tensor, const std::string&) {
        return std::vector<std::string>{tensor.source};
    });
    builder.share_tensors();
    if (step.spec.features)
        builder.run({{kFeatures, step.inputs.features}});
    else
        builder.run({});
    const ValueId embedded = builder.value(step.spec.embedded);
    step.graph.blocks.push_back(std::move(block));
    return embedded;
}

ValueId add_layers(ModelStep& step, ValueId x) {
    const std::vector<LayerGroup> groups = group_layers(step.spec);
    for (size_t i = 0; i < groups.size(); ++i) {
        const LayerGroup& group = groups[i];
        Block block{.name = groups.size() == 1 ? "layer" : fmt::format("layer_{}", i + 1),
                    .repeat = group.repeats,
                    .carried_in = x};
        for (int64_t offset = 0; offset < group.period; ++offset) {
            const int64_t first = group.first + offset;
            const std::string prefix =
                group.period == 1 ? block.name + "_" : fmt::format("{}_{}_", block.name, offset + 1);
            const auto sources = [&](const SpecTensor&, const std::string& name) {
                std::vector<std::string> all;
                for (int64_t r = 0; r < group.repeats; ++r)
                    all.push_back(step.spec.layers[static_cast<size_t>(first + r * group.period)]
                                      .tensors.at(name)
                                      .source);
                return all;
            };
            PartBuilder builder(step, block, step.spec.layers[static_cast<size_t>(first)], prefix, sources);
            builder.run({{kLayerInput, x}});
            x = builder.value(kLayerResult);
        }
        block.carried_out = x;
        step.graph.blocks.push_back(std::move(block));
    }
    return x;
}

/// The rows are selected first: only their logits are computed.
void add_head(ModelStep& step, ValueId x) {
    const Dim rows("R");
    Block block{.name = "head"};
    PartBuilder builder(step, block, step.spec.head, "", [](const SpecTensor& tensor, const std::string&) {
        return std::vector<std::string>{tensor.source};
    });
    builder.make_weights();
    const std::vector<Dim>& shape = step.graph[x].type.shape;
    if (shape.size() != 2 || !shape[1].is_constant())
        throw Error("layers", kLayerResult, "is no vector for each token, which the head reads");
    ops::BlockBuilder nodes(step.graph, block, step.rounding());
    const ValueId selected =
        nodes.add("selected", ops::select_rows(step.graph.symbols, rows, step.rows, shape[1].factor),
                  {step.inputs.rows, x});
    builder.run({{step.spec.result, selected}});
    step.graph.outputs = {builder.value(step.spec.is_encoder ? kVectors : kLogits)};
    // A value of its own: what the head reads may be rounded, or be in blocks.
    if (step.spec.gives_hidden && !step.spec.is_encoder) step.graph.outputs.push_back(builder.hidden());
    step.graph.blocks.push_back(std::move(block));
}

}  // namespace

Graph build_model(const ModelSpec& spec, const StepLimits& limits) {
    StepInputs inputs;
    StepLimits own = limits;
    own.has_source = spec.has_source;
    if (spec.features) own.features = spec.features->taps * spec.features->width;
    Graph graph = start_step(spec.name, own, inputs);
    ModelStep step{.spec = spec, .limits = limits, .graph = std::move(graph), .inputs = inputs};
    add_ropes(step, {&spec.embed, 1});
    ValueId x = add_embedding(step);
    add_ropes(step, spec.layers);
    x = add_layers(step, x);
    add_head(step, x);
    return std::move(step.graph);
}

}  // namespace tessera::import
