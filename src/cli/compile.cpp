#include <memory>

#include <CLI/CLI.hpp>

#include "cli/compiling.h"
#include "cli/number_checks.h"
#include "cli/verb.h"

namespace tessera::cli {
namespace {

struct CompileArguments {
    std::string model;
    std::string out;
    CompileFlags flags;
    bool is_quiet = false;
};

Job declare_compile(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<CompileArguments>();
    app.add_option("MODEL", options->model, "folder in HuggingFace form, or GGUF file")
        ->required()
        ->check(not_empty());
    app.add_option("-o,--out", options->out, "the artefact to write")
        ->required()
        ->check(not_empty())
        ->type_name("OUT.tsr");
    app.add_flag("-q,--quiet", options->is_quiet, "no report");
    add_compile_flags(app, options->flags);
    return [options, &environment] {
        if (!options->is_quiet) advise_measuring(options->flags, environment);
        const CompileReport report = compile(options->model, options->out, options->flags, environment);
        if (!options->is_quiet) print_report(options->out, report);
        return 0;
    };
}

}  // namespace

Verb compile_verb() {
    return {.name = "compile",
            .help = "compile a checkpoint into an artefact with native code",
            .examples = {"tessera compile models/tessera-tiny -o tiny.tsr",
                         "tessera compile model.gguf -o model.tsr --machine machines/avx2.toml",
                         "tessera compile models/tessera-tiny -o tiny.tsr --dump passes",
                         "tessera compile models/tessera-tiny -o tiny.tsr --plan edited.toml",
                         "tessera compile models/Qwen3-0.6B -o small.tsr --quantize q4_k_m",
                         "tessera compile model.gguf -o model.tsr --policy exact --cache-type f16"},
            .declare = declare_compile};
}

}  // namespace tessera::cli
