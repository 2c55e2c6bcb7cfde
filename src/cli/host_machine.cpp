#include "cli/host_machine.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "machine/host_cache.h"
#include "machine/probe.h"
#include "measure/measure_machine.h"
#include "support/error.h"
#include "support/file_lock.h"
#include "support/note.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

bool has_rates(const machine::Machine& machine) {
    return !machine.memory.back().read_bandwidth.empty();
}

}  // namespace

machine::Machine host_machine(const Environment& environment) {
    machine::Machine probed = machine::probe_host();
    return machine::cached_host(environment.cache->root(), probed).value_or(probed);
}

bool is_up_to_date(const machine::Machine& measured, const Environment& environment) {
    return measured.measured_with ==
           measure::kernels_digest(measured, {.include_directory = environment.include_directory,
                                              .search_path = environment.search_path});
}

machine::Machine measure_host(const machine::Machine& probed, const MeasureFlags& flags,
                              const Environment& environment) {
    std::unique_ptr<Progress> progress;
    const measure::MeasureOptions how{.threads = flags.threads,
                                      .include_directory = environment.include_directory,
                                      .cache_directory = environment.cache->writable("code"),
                                      .search_path = environment.search_path,
                                      .on_stage =
                                          [&](const std::string& stage) {
                                              progress.reset();
                                              progress = std::make_unique<Progress>(environment.terminal,
                                                                                    "measuring " + stage);
                                          },
                                      .on_sample = [&] { progress->update(); }};
    return measure::measure_machine(probed, flags.is_quick ? measure::quick(how) : how);
}

void add_no_measure_flag(CLI::App& app, bool& no_measure) {
    app.add_flag("--no-measure", no_measure,
                 "do not measure this machine, which is else done once, in seconds, before something is "
                 "compiled for it; typical rates stand in where none are kept");
}

void measure_once(const Environment& environment) try {
    if (has_rates(host_machine(environment))) return;
    if (!environment.cache->is_writable("machines")) return;
    const machine::Machine probed = machine::probe_host();
    const fs::path file = machine::host_cache_file(environment.cache->root(), probed);
    const FileLock lock(fs::path(file).replace_extension(".lock"),
                        [] { note("another process measures this machine; waiting for it"); });
    const machine::Machine known = host_machine(environment);
    if (has_rates(known)) return;
    note(
        "measuring this machine once, a few seconds, kept in {} (`tessera machine --measure` takes five "
        "minutes, "
        "for faster models; --no-measure leaves it out)",
        printable(file.string()));
    machine::Machine measured = measure_host(probed, {.is_quick = true}, environment);
    measured.rank_links = known.rank_links;
    machine::keep_host(environment.cache->root(), probed, measured);
} catch (const Error& error) {
    note("this machine could not be measured: {}", error.what());
}

}  // namespace tessera::cli
