#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/compiling.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "cli/onnx_flags.h"
#include "cli/verb.h"
#include "support/error.h"

namespace tessera::cli {
namespace {

struct CompileArguments {
    std::string model;
    std::string out;
    CompileFlags flags;
    OnnxFlags onnx;
    bool is_quiet = false;
};

/// A checkpoint is a folder or ends in .gguf.
CompileReport compile_file(const CompileArguments& options, const Environment& environment) {
    const OnnxFlags& onnx = options.onnx;
    if (std::filesystem::path(options.model).extension() == ".ir")
        return compile_program(options.model, named_files("--constant", onnx.constants), options.out,
                               options.flags, environment);
    if (std::filesystem::path(options.model).extension() == ".onnx")
        return compile_onnx(options.model, onnx_settings(onnx), options.out, options.flags, environment);
    for (const auto& [option, is_given] :
         {std::pair("--dim", !onnx.dims.empty()), std::pair("--point", !onnx.points.empty()),
          std::pair("--alias", !onnx.aliases.empty())})
        if (is_given) throw Error(options.model, option, "is for ONNX models (.onnx)", "", ErrorKind::kUsage);
    if (!onnx.constants.empty())
        throw Error(options.model, "--constant", "is for programs (.ir); a checkpoint has its own weights",
                    "", ErrorKind::kUsage);
    return compile(options.model, options.out, options.flags, environment);
}

Job declare_compile(CLI::App& app, const Environment& environment) {
    const auto options = std::make_shared<CompileArguments>();
    app.add_option("MODEL", options->model,
                   "folder in HuggingFace form, GGUF file, ONNX model (.onnx), or program (.ir)")
        ->required()
        ->check(not_empty());
    app.add_option("-o,--out", options->out, "the artefact to write")
        ->required()
        ->check(not_empty())
        ->type_name("OUT.tsr");
    app.add_flag("-q,--quiet", options->is_quiet, "no report");
    add_compile_flags(app, options->flags);
    add_comparison_flags(app, options->flags);
    add_backend_flag(app, options->flags);
    add_onnx_flags(app, options->onnx,
                   "of a program: a NumPy file for a tensor that it names as the source of a constant; ");
    add_points(app, "--point", options->onnx.points,
               "of an ONNX model with bounds: values of all its symbols at which the plan should be fast, as "
               "often as NAME*WEIGHT says; may be repeated, default: the upper bounds");
    return [options, &environment] {
        // A missing model, or a pipe, must fail at once, not after the machine was measured.
        if (std::filesystem::is_regular_file(options->model) || std::filesystem::is_directory(options->model))
            prepare_host(options->flags, options->is_quiet, environment);
        const CompileReport report = compile_file(*options, environment);
        if (!options->is_quiet) print_report(options->out, report);
        return 0;
    };
}

}  // namespace

Verb compile_verb() {
    return {.name = "compile",
            .help = "compile a checkpoint or a program into an artefact with native code",
            .examples = {"tessera compile models/tessera-tiny -o tiny.tsr",
                         "tessera compile model.gguf -o model.tsr --machine machines/avx2.toml",
                         "tessera compile models/tessera-tiny -o tiny.tsr --dump passes",
                         "tessera compile models/tessera-tiny -o tiny.tsr --plan edited.toml",
                         "tessera compile models/Qwen3-0.6B -o small.tsr --quantize q4_k_m",
                         "tessera compile model.gguf -o model.tsr --policy exact --cache-type f16",
                         "tessera compile matmul.ir -o matmul.tsr --constant w=w.npy --workers 2",
                         "tessera compile matmul.ir -o matmul.tsr --constant w=w.npy --cost mcfuser",
                         "tessera compile models/tessera-tiny -o plain.tsr --without layouts --regions 1",
                         "tessera compile models/tessera-tiny -o slow.tsr --backend scalar-c"},
            .declare = declare_compile};
}

}  // namespace tessera::cli
