#include <chrono>

#include "codegen/cpp/emit.h"
#include "codegen/toolchain.h"
#include "compiler/compiler.h"
#include "compiler/manifest_of.h"
#include "compiler/pack.h"
#include "import/import_model.h"
#include "llm/load_tokenizer.h"
#include "plan/constants.h"
#include "runtime/artefact.h"
#include "support/error.h"

namespace tessera {
namespace {

/// The bytes of one repetition of a constant, after the check that the checkpoint holds what the graph
/// expects.
std::span<const std::byte> source_bytes(const WeightSource& weights, const Value& value,
                                        const std::string& source, const std::string& where) {
    const StoredTensor* tensor = weights.find(source);
    if (!tensor) throw Error(where, source, "is missing");
    const std::vector<int64_t> shape = evaluate(value.type.shape, {});
    if (tensor->shape != shape || tensor->element != value.type.element) {
        throw Error(
            where, source,
            fmt::format("is {} [{}], the graph expects {} [{}]", tensor->type, fmt::join(tensor->shape, ", "),
                        name(value.type.element), fmt::join(shape, ", ")));
    }
    return tensor->bytes;
}

void write_constants(const ImportedModel& model, const Compiled& compiled, const std::string& where,
                     ConstantSink& sink) {
    const ConstantSection section = constant_section(compiled.graph, compiled.plan);
    for (const Value& value : compiled.graph.values) {
        if (value.kind != ValueKind::kConstant) continue;
        const StoredConstant& stored = section.constants.at(value.name);
        const std::vector<int64_t> shape = evaluate(value.type.shape, {});
        for (size_t r = 0; r < value.sources.size(); ++r) {
            sink.advance_to(stored.offset + static_cast<int64_t>(r) * stored.stride);
            pack(source_bytes(*model.weights, value, value.sources[r], where), shape,
                 stored_layout(compiled.plan, value.name), static_cast<size_t>(bits(value.type.element)) / 8,
                 [&](std::span<const std::byte> piece) { sink.write(piece); });
        }
    }
}

}  // namespace

CompileReport compile_model(const std::filesystem::path& model_path, const std::filesystem::path& out,
                            const CompileOptions& options) {
    CompileReport report;
    const auto timed = [&](const std::string& pass, const auto& run) {
        if (options.on_pass) options.on_pass(pass);
        const auto begin = std::chrono::steady_clock::now();
        auto result = run();
        report.passes.push_back(
            {pass, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()});
        return result;
    };
    const ImportedModel model = timed(
        "read-model", [&] { return import_model(model_path, {.context = options.context.value_or(0)}); });
    const Compiled compiled = compile_graph(model.graph, options, report);
    const SharedObject code = timed("compile-cpp", [&] {
        return compile_shared_object(compiled.code, {.compiler = options.machine.compiler,
                                                     .include_directory = options.ntt_include,
                                                     .cache_directory = options.cache,
                                                     .search_path = options.search_path,
                                                     .while_waiting = options.while_waiting});
    });
    report.cpp_cpu_seconds = code.cpu_seconds;
    report.code_was_cached = code.was_cached;

    ArtefactParts parts;
    parts.manifest = manifest_of(model, compiled, options.machine);
    parts.code = code.bytes;
    parts.plan = print(compiled.plan);
    parts.graph = print(compiled.graph);
    parts.tokenizer = tokenizer_files(model_path);
    report.constant_bytes = parts.manifest.constants_bytes;
    timed("write-artefact", [&] {
        write_artefact(out, parts, [&](ConstantSink& sink) {
            write_constants(model, compiled, model_path.string(), sink);
        });
        return true;
    });
    report.artefact_bytes = static_cast<int64_t>(std::filesystem::file_size(out));
    return report;
}

}  // namespace tessera
