#include "compiler/build_artefact.h"

#include <algorithm>

#include <fmt/core.h>

#include "backend/toolchain.h"
#include "compiler/manifest_of.h"
#include "compiler/timed.h"
#include "compiler/write_constants.h"
#include "support/output_place.h"

namespace tessera::compiler {

namespace {

template <typename Tensor>
void name_arrays(const std::vector<ModelParts::Array>& arrays, std::vector<Tensor>& tensors) {
    for (Tensor& tensor : tensors) {
        const auto array = std::ranges::find(arrays, tensor.name, &ModelParts::Array::value);
        if (array == arrays.end()) continue;
        if (array->name != tensor.name) tensor.array = array->name;
        if constexpr (requires { tensor.is_scalar; }) tensor.is_scalar = array->is_scalar;
    }
}

}  // namespace

void check_outputs(const std::filesystem::path& out, const CompileOptions& options) {
    check_output(out);
    if (!options.dump) return;
    create_folders(*options.dump);
    check_output(*options.dump / "01-import.ir");
}

void build_artefact(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& options,
                    CompileReport& report) {
    write_model(parts, compile_graph(parts.graph, options, report), out, options, report);
}

void write_model(const ModelParts& parts, const Compiled& compiled, const std::filesystem::path& out,
                 const CompileOptions& options, CompileReport& report) {
    const backend::SharedObject code = timed("compile-cpp", options, report, [&] {
        return backend::compile_shared_object(compiled.code, {.compiler = options.machine.compiler,
                                                              .isa = options.machine.isa,
                                                              .include_directory = options.ntt_include,
                                                              .cache_directory = options.cache,
                                                              .search_path = options.search_path,
                                                              .while_waiting = options.while_waiting});
    });
    report.cpp_cpu_seconds = code.cpu_seconds;
    report.code_was_cached = code.was_cached;

    runtime::ArtefactParts contents{.manifest = manifest_of(parts.text, compiled, options.machine),
                                    .code = code.bytes,
                                    .plan = plan::print(compiled.plan),
                                    .graph = print(compiled.graph),
                                    .tokenizer = parts.tokenizer};
    contents.manifest.warnings = parts.warnings;
    name_arrays(parts.arrays, contents.manifest.inputs);
    name_arrays(parts.arrays, contents.manifest.outputs);
    name_arrays(parts.arrays, contents.manifest.states);
    contents.manifest.empty_inputs = parts.empty_inputs;
    contents.manifest.empty_outputs = parts.empty_outputs;
    contents.manifest.hidden_outputs = parts.hidden_outputs;
    contents.manifest.cut_short = compiled.cut_short;
    contents.manifest.without = options.parts.without;
    contents.manifest.regions = options.parts.regions;
    report.warnings.insert(report.warnings.begin(), parts.warnings.begin(), parts.warnings.end());
    report.constant_bytes = contents.manifest.constants_bytes;
    report.artefact_bytes = timed("pack-weights", options, report, [&] {
        return runtime::write_artefact(out, contents, [&](runtime::ConstantSink& sink) {
            write_constants(parts.weights, compiled, parts.where, sink, packing_threads());
        });
    });
    report.passes.back().note = fmt::format("{} bytes written", report.artefact_bytes);
}

}  // namespace tessera::compiler
