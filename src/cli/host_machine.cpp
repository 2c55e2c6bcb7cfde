#include "cli/host_machine.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "compiler/measure/measure_machine.h"
#include "machine/host_cache.h"
#include "machine/probe.h"
#include "support/error.h"
#include "support/file_lock.h"
#include "support/note.h"
#include "support/printable.h"
#include "support/progress.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

bool was_measured(const machine::Machine& machine) {
    return !machine.measured_with.empty();
}

/// Rates that a quick measurement has no time or memory for.
std::string left_out(const machine::Machine& machine) {
    std::vector<std::string> parts;
    if (machine.memory.back().read_bandwidth.empty()) parts.emplace_back("the bandwidth of the main memory");
    if (!machine.memory.back().latency_seconds) parts.emplace_back("its latency");
    if (machine.cores > 1 && machine.barriers.empty()) parts.emplace_back("barriers");
    if (std::ranges::all_of(machine.units, [](const auto& unit) { return unit.peaks.empty(); }))
        parts.emplace_back("compute units");
    return fmt::format("{}", fmt::join(parts, ", "));
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
    if (was_measured(host_machine(environment))) return;
    if (!environment.cache->is_writable("machines")) return;
    const machine::Machine probed = machine::probe_host();
    const fs::path file = machine::host_cache_file(environment.cache->root(), probed);
    const FileLock lock(fs::path(file).replace_extension(".lock"),
                        [] { note("another process measures this machine; waiting for it"); });
    const machine::Machine known = host_machine(environment);
    if (was_measured(known)) return;
    note(
        "measuring this machine once, five seconds at most, kept in {} (`tessera machine --measure` takes "
        "five "
        "minutes, "
        "for faster models; --no-measure leaves it out)",
        printable(file.string()));
    machine::Machine measured = measure_host(probed, {.is_quick = true}, environment);
    measured.rank_links = known.rank_links;
    if (const std::string parts = left_out(measured); !parts.empty())
        note("not measured in that time: {}; typical rates stand in", parts);
    machine::keep_host(environment.cache->root(), probed, measured);
} catch (const Error& error) {
    note("this machine could not be measured: {}", error.what());
}

}  // namespace tessera::cli
