#include "compiler/tune/tune.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/compiling.h"
#include "cli/host_machine.h"
#include "cli/interrupt.h"
#include "cli/named_values.h"
#include "cli/number_checks.h"
#include "cli/verb.h"
#include "compiler/predicted_steps.h"
#include "compiler/verified_plan.h"
#include "cost/cost_model.h"
#include "run/runtime/artefact.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/mapped_file.h"
#include "support/note.h"
#include "support/output_place.h"
#include "support/progress.h"
#include "support/scratch_folder.h"

namespace tessera::cli {
namespace fs = std::filesystem;

namespace {

struct TuneArguments {
    std::string model;
    std::string log = "tuning.json";
    int64_t top = 8, samples = 0, seed = 1;
    std::vector<std::string> constants;
    CompileFlags flags;
};

/// An artefact stays where it is; everything else is compiled into the folder.
fs::path artefact_of(const TuneArguments& options, const fs::path& folder, const Environment& environment) {
    fs::path model = options.model;
    if (model.extension() == ".tsr") return model;
    fs::path out = folder / "model.tsr";
    if (model.extension() == ".ir")
        compile_program(model, named_files("--constant", options.constants), out, options.flags, environment);
    else
        compile(model, out, options.flags, environment);
    return out;
}

machine::Machine measured_host(const Environment& environment) {
    machine::Machine machine = host_machine(environment);
    if (!cost::is_measured(machine))
        throw Error("", "this machine", "has not been measured, so that estimates are no guide",
                    "`tessera machine --measure` does it once");
    return machine;
}

void print_kernel(const planner::TunedKernel& kernel) {
    const planner::MeasuredChoice& used = kernel.choices.front();
    const auto planned = std::ranges::find_if(kernel.choices, &planner::MeasuredChoice::is_planned);
    fmt::print("{}, {:.4g} us (estimated {:.4g}), {} measured", kernel.specialisation, used.seconds * 1e6,
               used.estimated_seconds * 1e6, kernel.choices.size());
    if (planned != kernel.choices.end() && &*planned != &used)
        fmt::print(", {:.3f} of the search's choice", used.seconds / planned->seconds);
    fmt::print("\n    {}\n", fmt::join(used.nests, "\n    "));
    std::fflush(stdout);
}

int run_tune(const TuneArguments& options, const Environment& environment) {
    check_output(options.log);
    if (!options.flags.no_measure) measure_once(environment);
    const machine::Machine machine = measured_host(environment);
    planner::TuningLog log;
    if (fs::exists(options.log))
        log = planner::parse_tuning_log(MappedFile::open(options.log).text(), options.log);

    const ScratchFolder folder(fs::temp_directory_path(), "tessera-tune");
    const runtime::Artefact artefact =
        runtime::Artefact::open(artefact_of(options, folder.path(), environment));
    const auto [graph, plan] = compiler::verified_plan(artefact);

    const InterruptWatch watch;
    std::unique_ptr<Progress> progress;
    tune::TuneOptions how{.top = static_cast<size_t>(options.top),
                          .samples = static_cast<size_t>(options.samples),
                          .seed = static_cast<uint64_t>(options.seed)};
    how.measuring = {.samples = 5,
                     .seconds = 0.005,
                     .include_directory = environment.include_directory,
                     .cache_directory = environment.cache->writable("code"),
                     .search_path = environment.search_path,
                     .on_sample = [&] {
                         if (progress) progress->update();
                     }};
    size_t known = log.size();
    std::string current;
    how.on_kernel = [&](size_t at, size_t count, const std::string& name) {
        current = name;
        progress.reset();
        progress = std::make_unique<Progress>(environment.terminal,
                                              fmt::format("tuning kernel {} of {}, {}", at + 1, count, name));
    };
    how.on_refused = [&](const std::string& why) {
        progress.reset();
        note("{} stays as it is: {}", current, why);
    };
    how.on_log = [&](const planner::TuningLog& all) {
        progress.reset();
        write_file(options.log, planner::print(all));
        for (; known < all.size(); ++known) print_kernel(all[known]);
        return !watch.interrupted();
    };
    const auto sizes = [&](const Point& point) { return compiler::size_point(artefact.manifest(), point); };
    const planner::TuningLog all =
        tune::tune({.graph = graph, .plan = plan, .machine = machine, .sizes = sizes}, std::move(log), how);
    if (watch.interrupted()) {
        note("interrupted; {} keeps what was measured, and the same command goes on", options.log);
        return kInterruptedExitCode;
    }
    fmt::print("{} has {} kernels: `tessera compile .. --tuning {}`\n", options.log, all.size(), options.log);
    return 0;
}

}  // namespace

Verb tune_verb() {
    return {.name = "tune",
            .help = "time the kernels that the search holds for fastest, and keep what was measured",
            .examples = {"tessera tune model.gguf", "tessera tune out.tsr --top 4 --log tuning.json",
                         "tessera compile model.gguf -o tuned.tsr --tuning tuning.json"},
            .declare = [](CLI::App& app, const Environment& environment) -> Job {
                const auto options = std::make_shared<TuneArguments>();
                app.add_option("MODEL", options->model,
                               "artefact (.tsr), or what `compile` takes: checkpoint or program (.ir)")
                    ->required()
                    ->check(not_empty());
                app.add_option("--log", options->log,
                               "the log of measurements to write; those that it has are not measured again")
                    ->capture_default_str()
                    ->check(not_empty())
                    ->type_name("FILE");
                app.add_option("--top", options->top,
                               "choices of a kernel that are compiled and timed together")
                    ->capture_default_str()
                    ->type_name("N")
                    ->check(whole_number(2, 64));
                app.add_option("--samples", options->samples,
                               "choices of a kernel that are drawn over the whole space and timed too: they "
                               "show how good the search and its estimates are")
                    ->capture_default_str()
                    ->type_name("N")
                    ->check(whole_number(0, 10'000));
                app.add_option("--seed", options->seed, "of the samples")
                    ->capture_default_str()
                    ->type_name("N")
                    ->check(whole_number(0, 1'000'000'000));
                add_compile_flags(app, options->flags);
                add_named_files(app, "--constant", options->constants,
                                "of a program: a NumPy file for a tensor that it names as the source of a "
                                "constant; may be repeated");
                return [options, &environment] { return run_tune(*options, environment); };
            }};
}

}  // namespace tessera::cli
