#include <algorithm>

#include <fmt/format.h>

#include "compiler/build_artefact.h"
#include "compiler/compiler.h"
#include "compiler/import_options.h"
#include "compiler/program_limits.h"
#include "compiler/timed.h"
#include "import/onnx/import_onnx.h"
#include "support/error.h"
#include "support/printable.h"

namespace tessera::compiler {

namespace onnx = import::onnx;

namespace {

/// Errors of the passes name nodes of the graph; a user knows those of the model.
[[noreturn]] void rethrow(const Error& error, const onnx::ImportedModel& model) {
    const std::string& where = model.text.where;
    for (const std::string* place : {&error.where, &error.entity})
        for (const auto& [node, origin] : model.operators)
            if (*place == node || place->ends_with(": " + node))
                throw Error(where, origin, fmt::format("{} {}", error.entity, error.problem), error.advice,
                            error.kind);
    throw Error(where, error.entity, error.problem, error.advice, error.kind);
}

}  // namespace

onnx::ImportOptions import_options(const OnnxSettings& settings) {
    onnx::ImportOptions options{
        .dims = {}, .constants = settings.constants, .aliases = settings.aliases, .points = {}};
    for (const auto& [name, bounds] : settings.dims)
        options.dims[name] = {bounds.low, bounds.high, bounds.step};
    for (const CostPoint& point : settings.points)
        options.points.push_back({.name = point.name, .weight = point.weight, .values = point.values});
    return options;
}

CompileReport compile_onnx(const std::filesystem::path& file, const OnnxSettings& settings,
                           const std::filesystem::path& out, const CompileOptions& given) {
    CompileOptions options = given;
    options.composes_maps = true;
    check_outputs(out, options);
    CompileReport report;
    const onnx::ImportOptions how = import_options(settings);
    onnx::ImportedModel model =
        timed("import-onnx", options, report, [&] { return onnx::import_supported_onnx(file, how); });
    model.graph.name = valid_utf8(model.graph.name);
    std::vector<ModelParts::Array> arrays;
    std::vector<runtime::Manifest::Tensor> empty_inputs, empty_outputs;
    std::vector<std::string> hidden;
    for (const bool is_input : {true, false})
        for (const onnx::Port& port : is_input ? model.inputs : model.outputs) {
            if (!port.value.empty())
                arrays.push_back({port.value, port.name, port.is_scalar});
            else
                (is_input ? empty_inputs : empty_outputs).push_back({port.name, port.element, port.shape});
        }
    for (const onnx::Port& state : model.states) arrays.push_back({state.value, state.name});
    for (const ValueId output : model.graph.outputs)
        if (std::ranges::find(model.outputs, model.graph[output].name, &onnx::Port::value) ==
            model.outputs.end())
            hidden.push_back(model.graph[output].name);
    try {
        verify(model.graph, file.string());
        expect_program(model.graph, file.string());
        write_model({.graph = model.graph,
                     .weights = *model.weights,
                     .text = std::nullopt,
                     .tokenizer = {},
                     .where = file.string(),
                     .warnings = {},
                     .arrays = arrays,
                     .empty_inputs = empty_inputs,
                     .empty_outputs = empty_outputs,
                     .hidden_outputs = hidden},
                    compile_graph(model.graph, options, report), out, options, report);
    } catch (const Error& error) {
        rethrow(error, model);
    }
    return report;
}

}  // namespace tessera::compiler
