#include "compiler/build_artefact.h"

#include "codegen/toolchain.h"
#include "compiler/manifest_of.h"
#include "compiler/timed.h"
#include "compiler/write_constants.h"

namespace tessera {

void build_artefact(const ModelParts& parts, const std::filesystem::path& out, const CompileOptions& options,
                    CompileReport& report) {
    const Compiled compiled = compile_graph(parts.graph, options, report);
    const SharedObject code = timed("compile-cpp", options, report, [&] {
        return compile_shared_object(compiled.code, {.compiler = options.machine.compiler,
                                                     .isa = options.machine.isa,
                                                     .include_directory = options.ntt_include,
                                                     .cache_directory = options.cache,
                                                     .search_path = options.search_path,
                                                     .while_waiting = options.while_waiting});
    });
    report.cpp_cpu_seconds = code.cpu_seconds;
    report.code_was_cached = code.was_cached;

    ArtefactParts contents{.manifest = manifest_of(parts.text, compiled, options.machine),
                           .code = code.bytes,
                           .plan = print(compiled.plan),
                           .graph = print(compiled.graph),
                           .tokenizer = parts.tokenizer};
    contents.manifest.warnings = report.warnings = parts.warnings;
    report.constant_bytes = contents.manifest.constants_bytes;
    timed("write-artefact", options, report, [&] {
        write_artefact(out, contents, [&](ConstantSink& sink) {
            write_constants(parts.weights, compiled, parts.where, sink);
        });
        return true;
    });
    report.artefact_bytes = static_cast<int64_t>(std::filesystem::file_size(out));
}

}  // namespace tessera
