#include <memory>
#include <vector>

#include "compiler/build_artefact.h"
#include "compiler/packed_weights.h"
#include "compiler/timed.h"
#include "lowering/kernels/micro_kernels.h"
#include "support/error.h"

namespace tessera::compiler {
namespace {

/// The names of an artefact's arrays in calls, where these are no names of its graph.
std::vector<ModelParts::Array> named_arrays(const runtime::Manifest& manifest) {
    std::vector<ModelParts::Array> arrays;
    for (const auto* tensors : {&manifest.inputs, &manifest.outputs})
        for (const runtime::Manifest::Tensor& tensor : *tensors)
            arrays.push_back({tensor.name, tensor.array_name(), tensor.is_scalar});
    for (const runtime::Manifest::State& state : manifest.states)
        arrays.push_back({state.name, state.array_name()});
    return arrays;
}

}  // namespace

CompileReport retarget_artefact(const std::filesystem::path& path, const std::filesystem::path& out,
                                const CompileOptions& options) {
    TESSERA_CHECK(!options.context, "{}", path.string());
    check_outputs(out, options);
    CompileReport report;
    const auto artefact = std::make_shared<const runtime::Artefact>(
        timed("read-artefact", options, report, [&] { return runtime::Artefact::open(path); }));
    if (artefact->ranks_of_file() > 1)
        throw Error(
            path.string(), "",
            fmt::format("is for {} ranks, whose split belongs to a machine", artefact->ranks_of_file()),
            "compile the model again with --ranks and --machine");
    const Graph graph = parse_graph(artefact->graph(), artefact->where());
    verify(graph, artefact->where());
    const PackedWeights weights(
        artefact, graph, plan::parse_plan(artefact->plan(), artefact->where(), kernels::micro_kernels()));
    build_artefact({.graph = graph,
                    .weights = weights,
                    .text = artefact->manifest().text,
                    .tokenizer = artefact->tokenizer(),
                    .where = artefact->where(),
                    .warnings = artefact->manifest().warnings,
                    .arrays = named_arrays(artefact->manifest()),
                    .empty_inputs = artefact->manifest().empty_inputs,
                    .empty_outputs = artefact->manifest().empty_outputs,
                    .hidden_outputs = artefact->manifest().hidden_outputs},
                   out, options, report);
    return report;
}

}  // namespace tessera::compiler
