#include "cli/compiling.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/progress.h"

namespace tessera::cli {
namespace fs = std::filesystem;

void add_compile_flags(CLI::App& app, CompileFlags& flags) {
    app.add_option("--machine", flags.machine, "machine description (TOML); default: this machine")
        ->type_name("FILE");
    app.add_option("--context", flags.context,
                   "longest sequence in tokens; default: the model's, at most 8192")
        ->type_name("N")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
    CLI::Option* workers =
        app.add_option("--workers", flags.workers, "threads that compute together (default: the machine's cores)")
            ->type_name("N")
            ->check(CLI::Range(int64_t{1}, kMostWorkers));
    app.add_option("--plan", flags.plan, "compile this plan instead of the default planner's")
        ->type_name("FILE")
        ->excludes(workers);
    app.add_option("--dump", flags.dump, "write the printed form after every pass into this folder")
        ->type_name("DIR");
}

Machine read_machine(const std::string& file) {
    if (file.empty()) return probe_host();
    const MappedFile text = MappedFile::open(file);
    return parse_machine(text.text(), file);
}

CompileReport compile(const fs::path& model, const fs::path& out, const CompileFlags& flags,
                      const Environment& environment) {
    if (!fs::exists(model))
        throw Error(model.string(), {}, "does not exist", "give a HuggingFace folder or a GGUF file");
    CompileOptions options;
    options.machine = read_machine(flags.machine);
    options.ntt_include = environment.include_directory;
    options.cache = environment.cache() / "code";
    options.search_path = environment.search_path;
    if (!flags.plan.empty()) options.plan = flags.plan;
    if (!flags.dump.empty()) options.dump = flags.dump;
    if (flags.workers > 0) options.workers = flags.workers;
    if (flags.context > 0) options.context = flags.context;
    std::unique_ptr<Progress> progress;
    options.on_pass = [&](const std::string& pass) {
        progress.reset();
        progress = std::make_unique<Progress>(environment.terminal, "compiling: " + pass);
    };
    options.while_waiting = [&] {
        if (progress) progress->update();
    };
    return compile_model(model, out, options);
}

}  // namespace tessera::cli
