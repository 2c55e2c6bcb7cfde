#include "cli/compiling.h"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "backend/backend.h"
#include "cli/announce_model.h"
#include "cli/compile_progress.h"
#include "cli/host_machine.h"
#include "cli/number_checks.h"
#include "compiler/search_parts.h"
#include "cost/cost_model.h"
#include "lowering/plan/plan.h"
#include "machine/machine_text.h"
#include "machine/published_models.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/mapped_file.h"
#include "support/note.h"
#include "support/printable.h"

namespace tessera::cli {
namespace fs = std::filesystem;

namespace {

/// Settings from the flags, and progress on the terminal for as long as it lives.
class Compilation {
public:
    Compilation(const CompileFlags& flags, const Environment& environment)
        : settings_{.include_directory = environment.include_directory,
                    .cache_directory = environment.cache->writable("code"),
                    .search_path = environment.search_path,
                    .machine = flags.machine,
                    .measured_machines = environment.cache->root(),
                    .plan = flags.plan,
                    .kernels = flags.kernels,
                    .tuning = flags.tuning,
                    .dump = flags.dump,
                    .policy = flags.model.policy,
                    .cache_type = flags.model.cache_type,
                    .quantize = flags.model.quantize,
                    .architecture = flags.model.architecture,
                    .embeddings = flags.embeddings,
                    .search_effort = flags.search_effort,
                    .cost = flags.cost,
                    .without = flags.without,
                    .backend = flags.backend} {
        if (flags.workers > 0) settings_.workers = flags.workers;
        if (flags.ranks > 1) settings_.ranks = flags.ranks;
        settings_.cluster = flags.cluster;
        settings_.rank_memory = flags.rank_memory;
        if (flags.regions > 0) settings_.regions = flags.regions;
        if (flags.context > 0) settings_.context = flags.context;
        settings_.on_pass = [this, terminal = environment.terminal](const std::string& pass) {
            if (!progress_) progress_ = std::make_unique<CompileProgress>(terminal, "compiling");
            progress_->begin(pass);
        };
    }
    Compilation(const Compilation&) = delete;  // the settings refer to the progress
    Compilation& operator=(const Compilation&) = delete;

    const CompileSettings& settings() const { return settings_; }

private:
    std::unique_ptr<CompileProgress> progress_;
    CompileSettings settings_;
};

}  // namespace

void add_machine_flags(CLI::App& app, CompileFlags& flags) {
    app.add_option("--machine", flags.machine, "machine description (TOML); default: this machine")
        ->check(not_empty())
        ->type_name("FILE");
    add_no_measure_flag(app, flags.no_measure);
    CLI::Option* workers = app.add_option("--workers", flags.workers,
                                          "threads that compute together; default: the machine's cores")
                               ->type_name("N")
                               ->check(whole_number(1, kMostWorkers));
    CLI::Option* plan =
        app.add_option("--plan", flags.plan, "compile this plan instead of the default planner's")
            ->check(not_empty())
            ->type_name("FILE")
            ->excludes(workers);
    CLI::Option* kernels =
        app.add_option("--kernels", flags.kernels,
                       "keep the kernels that this file states, and search the others around them "
                       "(docs/schedule.md)")
            ->check(not_empty())
            ->type_name("FILE")
            ->excludes(plan);
    app.add_option("--tuning", flags.tuning,
                   "keep the kernels that `tessera tune` has measured to be fastest on this machine")
        ->check(not_empty())
        ->type_name("FILE")
        ->excludes(plan)
        ->excludes(kernels);
    add_effort_flag(app, flags.search_effort);
    app.add_option("--dump", flags.dump, "write the printed form after every pass into this folder")
        ->check(not_empty())
        ->type_name("DIR");
}

void add_comparison_flags(CLI::App& app, CompileFlags& flags) {
    app.add_option("--cost", flags.cost,
                   "for comparisons: choose what shares a kernel, its loops and tiles by a published model: "
                   "nncase, mcfuser or roofline (docs/schedule.md)")
        ->check(CLI::IsMember(machine::published_model_names()))
        ->type_name("MODEL")
        ->excludes(app.get_option("--plan"));
    std::vector<std::string> names;
    std::string kinds;
    for (const compiler::SearchPartName& part : compiler::search_part_names()) {
        names.push_back(part.name);
        kinds += fmt::format("\n  {:<12} {}", part.name, part.help);
    }
    app.add_option(
           "--without", flags.without,
           "for comparisons: leave a part of the searches out; may be repeated (docs/schedule.md):" + kinds)
        ->check(CLI::IsMember(names))
        ->type_name("PART")
        ->excludes(app.get_option("--plan"));
    app.add_option("--regions", flags.regions,
                   "for comparisons: operators of the regions that are all looked at; default: 4, more with "
                   "a larger --search-effort")
        ->check(whole_number(1, compiler::kLargestRegion))
        ->type_name("N")
        ->excludes(app.get_option("--plan"));
}

void add_backend_flag(CLI::App& app, CompileFlags& flags) {
    std::vector<std::string> names, kinds;
    for (const backend::Backend& backend : backend::backends()) {
        names.emplace_back(backend.name);
        kinds.push_back(fmt::format("{}: {}", backend.name, backend.summary));
    }
    app.add_option("--backend", flags.backend,
                   fmt::format("for comparisons: what the code is printed as; {} (docs/design.md)",
                               fmt::join(kinds, "; ")))
        ->check(CLI::IsMember(names))
        ->type_name("NAME");
}

void add_compile_flags(CLI::App& app, CompileFlags& flags) {
    add_machine_flags(app, flags);
    CLI::Option* ranks =
        app.add_option("--ranks", flags.ranks,
                       "parts of the model that compute a step together, each with --workers threads: in one "
                       "process, or in those that mpirun starts (docs/ranks.md)")
            ->type_name("N")
            ->check(whole_number(1, 128));
    app.add_option("--cluster", flags.cluster,
                   "with --ranks: the devices and links of the ranks (TOML); default: this machine")
        ->check(not_empty())
        ->type_name("FILE")
        ->needs(ranks);
    app.add_option("--rank-memory", flags.rank_memory, "with --ranks: bytes of one rank, at most")
        ->check(positive_count())
        ->type_name("BYTES")
        ->needs(ranks);
    app.add_option("--context", flags.context,
                   "longest sequence in tokens; default: the model's, at most 8192")
        ->type_name("N")
        ->check(whole_number(1, kMostTokens));
    add_model_flags(app, flags.model);
    app.add_flag(
        "--embeddings", flags.embeddings,
        "the artefact can embed texts, too: for `tessera embed` and /v1/embeddings of `tessera serve`");
}

machine::Machine read_machine(const std::string& file, const Environment& environment) {
    if (file.empty()) return host_machine(environment);
    const MappedFile text = MappedFile::open(file);
    return machine::parse_machine(text.text(), file);
}

CompileReport compile(const fs::path& model, const fs::path& out, const CompileFlags& flags,
                      const Environment& environment) {
    CompileReport report = tessera::compile(model, out, Compilation(flags, environment).settings());
    print_warnings(model.string(), report.warnings);
    return report;
}

CompileReport compile_program(const fs::path& program, const std::map<std::string, fs::path>& constants,
                              const fs::path& out, const CompileFlags& flags,
                              const Environment& environment) {
    CompileReport report =
        tessera::compile_program(program, constants, out, Compilation(flags, environment).settings());
    print_warnings(program.string(), report.warnings);
    return report;
}

CompileReport compile_onnx(const fs::path& model, const OnnxSettings& onnx, const fs::path& out,
                           const CompileFlags& flags, const Environment& environment) {
    CompileReport report =
        tessera::compile_onnx(model, onnx, out, Compilation(flags, environment).settings());
    print_warnings(model.string(), report.warnings);
    return report;
}

CompileReport retarget(const fs::path& artefact, const fs::path& out, const CompileFlags& flags,
                       const Environment& environment) {
    CompileReport report = tessera::retarget(artefact, out, Compilation(flags, environment).settings());
    print_warnings(artefact.string(), report.warnings);
    return report;
}

void prepare_host(const CompileFlags& flags, bool is_quiet, const Environment& environment) {
    if (!flags.machine.empty() || flags.no_measure) return;
    measure_once(environment);
    if (is_quiet) return;
    const machine::Machine host = host_machine(environment);
    if (host.measured_with.empty()) {
        note("this machine has not been measured; `tessera machine --measure` does it once");
    } else if (cost::is_measured(host) && !is_up_to_date(host, environment)) {
        note(
            "this machine was measured with other kernels or another compiler; `tessera machine "
            "--measure` does it again");
    }
}

void print_report(const std::string& out, const CompileReport& report) {
    for (const CompileReport::Pass& pass : report.passes)
        note("  {:<16} {:8.3f} s{}{}", pass.name, pass.seconds, pass.note.empty() ? "" : "  ", pass.note);
    note("{}: {} bytes, {} of them weights; {} bytes of C++, {}", printable(out), report.artefact_bytes,
         report.constant_bytes, report.code_bytes,
         report.code_was_cached ? "compiled before"
                                : fmt::format("compiled in {:.1f} CPU seconds", report.cpp_cpu_seconds));
}

}  // namespace tessera::cli
