#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "cli/announce_model.h"
#include "cli/bench_phases.h"
#include "cli/bench_report.h"
#include "cli/host_machine.h"
#include "cli/interrupt.h"
#include "cli/number_checks.h"
#include "cli/open_model.h"
#include "cli/verb.h"
#include "lowering/plan/plan.h"
#include "run/runtime/artefact.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/note.h"
#include "support/output_place.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

constexpr int64_t kMostTimes = 1'000'000;

struct BenchArguments {
    std::vector<std::filesystem::path> models;
    std::vector<int64_t> threads;
    std::optional<int64_t> prefill;
    std::string json;
    bool costs = false;
    std::string machine;
    bool no_measure = false;
    ModelFlags model_flags;
    BenchSettings settings;
};

/// The artefact itself, or one for each number of threads. An artefact has as many workers as its plan.
void open_all(const std::filesystem::path& path, const BenchArguments& options, int64_t context,
              const Environment& environment, std::vector<ModelFile>& files) {
    FirstUse how{.no_measure = options.no_measure, .model = options.model_flags};
    if (std::filesystem::is_regular_file(path) && runtime::is_artefact(path)) {
        files.push_back(open_model(path, context, environment, how));
        const int64_t workers = files.back().workers();
        if (!options.threads.empty() && options.threads != std::vector<int64_t>{workers})
            throw Error(path.string(), "",
                        fmt::format("is compiled for {} {}, and cannot be timed with {} threads", workers,
                                    workers == 1 ? "worker" : "workers", fmt::join(options.threads, ", ")),
                        "leave --threads out, or compile the model with --workers N for each");
        return;
    }
    if (options.threads.empty()) files.push_back(open_model(path, context, environment, how));
    for (const int64_t threads : options.threads) {
        how.workers = threads;
        files.push_back(open_model(path, context, environment, how));
    }
}

int64_t deepest(const BenchSettings& settings) {
    return *std::max_element(settings.depths.begin(), settings.depths.end());
}

/// Tokens of the longest sequence.
int64_t context_of(const BenchSettings& settings) {
    return deepest(settings) + std::max(settings.prefill, settings.decode);
}

/// Unless told how long, a prompt is one that every model has room for.
void fit(BenchSettings& settings, std::optional<int64_t> prefill, const std::vector<ModelFile>& files) {
    for (const ModelFile& file : files) {
        const int64_t room = std::max<int64_t>(0, file.context() - deepest(settings));
        if (!prefill) settings.prefill = std::min(settings.prefill, room);
        if (context_of(settings) > file.context())
            throw Error(file.name(), "",
                        fmt::format("cannot have a context of {} tokens: the compiled model allows up to {}",
                                    context_of(settings), file.context()),
                        "choose a smaller --depth, --prefill or --decode");
    }
}

int bench_models(const BenchArguments& options, const Environment& environment) {
    const bool to_stdout = options.json == "-";
    if (!options.json.empty() && !to_stdout) check_output(options.json);
    BenchSettings settings = options.settings;
    if (options.costs) settings.machine = options.machine;
    if (options.prefill) settings.prefill = *options.prefill;
    std::vector<ModelFile> files;
    std::vector<BenchedModel> models;
    std::vector<std::filesystem::path> paths = options.models;
    if (paths.empty()) paths.emplace_back();
    for (const std::filesystem::path& named : paths) {
        const std::filesystem::path path = resolve_model(named, environment);
        open_all(path, options, context_of(settings), environment, files);
        for (size_t i = models.size(); i < files.size(); ++i)
            models.push_back({path.string(), files[i].describe(), files[i].workers()});
    }
    fit(settings, options.prefill, files);
    for (const ModelFile& file : files)
        announce_model(file, {.context = context_of(settings), .chunk = settings.chunk});

    const InterruptWatch interrupt;
    std::optional<Progress> progress;
    settings.on_progress = [&](int64_t done, int64_t all) {
        if (!progress) progress.emplace(environment.terminal, "benching", all);
        progress->update(done);
    };
    settings.should_stop = [&] { return interrupt.interrupted(); };
    const std::vector<BenchCase> cases = bench(files, settings);
    progress.reset();
    if (files.front().process() > 0) return 0;
    if (!options.json.empty() && !to_stdout) write_file(options.json, bench_json(models, cases));
    fmt::print("{}", to_stdout ? bench_json(models, cases)
                               : bench_table(models, cases) + bench_phases(models, cases));
    if (!interrupt.interrupted()) return 0;
    note("stopped: interrupted");
    return kInterruptedExitCode;
}

void declare_options(CLI::App& app, BenchArguments& options) {
    BenchSettings& settings = options.settings;
    const CLI::Validator tokens = whole_number(0, kMostTokens);
    app.add_option("MODEL", options.models,
                   "artefacts, or models that are compiled on first use; several are timed in alternation "
                   "(default: the model that ships with Tessera)")
        ->check(not_empty());
    const auto number = [&](const char* flag, int64_t& value, const char* help, const CLI::Validator& range) {
        app.add_option(flag, value, help)->check(range)->capture_default_str()->type_name("N");
    };
    const auto list = [&](const char* flag, std::vector<int64_t>& values, const char* help,
                          const CLI::Validator& range) {
        return app.add_option(flag, values, help)
            ->delimiter(',')
            ->allow_extra_args(false)
            ->check(range)
            ->type_name("N,...");
    };
    app.add_option(
           "--prefill", options.prefill,
           fmt::format("tokens of a prompt that is computed at once; 0: none (default: {}, or as many "
                       "as the context of every model leaves)",
                       settings.prefill))
        ->check(tokens)
        ->type_name("N");
    number("--decode", settings.decode, "tokens that are computed one by one; 0: none", tokens);
    list("--depth", settings.depths,
         "tokens in the cache before them, whose keys and values are made up (default 0)", tokens);
    list("--threads", options.threads,
         "compile a model for these numbers of workers, one after the other; an artefact has its own",
         whole_number(1, kMostWorkers));
    number("--repeat", settings.repeat, "times that each is timed", whole_number(1, kMostTimes));
    app.add_option("--chunk", settings.chunk, "most tokens of one step (default: as many as the code takes)")
        ->check(whole_number(1, kMostTokens))
        ->type_name("N");
    app.add_flag("--limits", settings.limits,
                 "time the machine before each time of a model: reading memory, and F32 multiply-adds");
    CLI::Option* machine =
        app.add_option("--machine", options.machine,
                       "with --costs: the machine that they are for, as `tessera machine --measure` wrote it")
            ->check(not_empty())
            ->type_name("FILE");
    app.add_flag("--costs", options.costs, "also predict the times, by what was measured of the machine")
        ->needs(machine);
    add_no_measure_flag(app, options.no_measure);
    add_model_flags(app, options.model_flags);
    app.add_flag("--phases", settings.phases,
                 "also time every kernel, barrier and exchange of ranks, beside what --costs predicts");
    app.add_option("--json", options.json,
                   "write every repetition to this file, or to stdout in place of the table (-)")
        ->check(not_empty())
        ->type_name("FILE");
}

}  // namespace

Verb bench_verb() {
    return {.name = "bench",
            .help = "time prefill and decode, against what this machine can do",
            .examples = {"tessera bench OUT.tsr --limits",
                         "tessera bench OUT.tsr --prefill 512 --decode 64 --depth 0,4096 --json times.json",
                         "tessera bench a.tsr b.tsr --prefill 0 --repeat 15",
                         "tessera bench OUT.tsr --prefill 17 --decode 0 --costs --machine host.toml",
                         "tessera bench OUT.tsr --depth 4096 --phases --costs --machine host.toml",
                         "tessera bench models/Qwen3-0.6B --threads 1,2"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<BenchArguments>();
                declare_options(app, *options);
                return [options, &environment] { return bench_models(*options, environment); };
            }};
}

}  // namespace tessera::cli
