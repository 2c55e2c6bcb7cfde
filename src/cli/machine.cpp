#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "cli/host_machine.h"
#include "cli/number_checks.h"
#include "cli/rank_measurements.h"
#include "cli/verb.h"
#include "cost/cost_model.h"
#include "machine/description_text.h"
#include "machine/doubtful_levels.h"
#include "machine/host_cache.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/atomic_file.h"
#include "support/error.h"
#include "support/note.h"
#include "support/output_place.h"

namespace tessera::cli {
namespace {

struct MachineArguments {
    std::string file;
    std::string out;
    bool measure = false;
    bool refresh = false;
    bool quick = false;
    bool json = false;
    int64_t threads = 0;
    int64_t ranks = 0;
};

machine::Machine describe(const MachineArguments& options, const Environment& environment) {
    const machine::Machine probed = machine::probe_host();
    if (options.threads > probed.cores)
        throw Error("", "--threads",
                    fmt::format("is {}, but this process may use {} cores", options.threads, probed.cores),
                    "", ErrorKind::kUsage);
    const bool is_partial = options.quick || options.threads > 0;
    if (!options.measure && !options.refresh) return host_machine(environment);
    if (!options.refresh && !is_partial)
        if (const auto kept = machine::cached_host(environment.cache->root(), probed);
            kept && cost::is_measured(*kept) && is_up_to_date(*kept, environment))
            return *kept;
    machine::Machine measured =
        measure_host(probed, {.is_quick = options.quick, .threads = options.threads}, environment);
    if (const auto kept = machine::cached_host(environment.cache->root(), probed))
        measured.rank_links = kept->rank_links;
    // Measurements made in a hurry or in part must not stand in for the whole.
    if (is_partial) return measured;
    if (environment.cache->is_writable("machines"))
        machine::keep_host(environment.cache->root(), probed, measured);
    else
        note(
            "what was measured is not kept: the cache cannot be written (set XDG_CACHE_HOME to a folder that "
            "you may write, or keep it with --out and use it with --machine)");
    return measured;
}

/// Adds the link to the description, and to the one that is kept. @return whether this is the first rank
bool measure_ranks(machine::Machine& machine, const MachineArguments& options,
                   const Environment& environment) {
    const machine::Machine probed = machine::probe_host();
    if (!measure_link(machine, options.ranks, environment)) return false;
    if (!options.quick && options.threads == 0 && environment.cache->is_writable("machines"))
        machine::keep_host(environment.cache->root(), probed, machine);
    return true;
}

void write_or_print(const std::string& text, const std::string& out) {
    if (out.empty())
        fmt::print("{}", text);
    else
        write_file(out, text);
}

int print_host(const machine::Machine& machine, const std::string& out, bool json) {
    const bool has_rates = !machine.memory.back().read_bandwidth.empty();
    write_or_print(
        json ? machine::machine_json(machine)
             : std::string(has_rates ? "# Measured by `tessera machine --measure`.\n"
                                     : "# Written by `tessera machine`; `--measure` adds rates.\n") +
                   machine::print_machine(machine),
        out);
    for (const std::string& doubt : machine::doubtful_levels(machine)) note("note: {}", doubt);
    return 0;
}

/// A file of any machine, also in an older format.
int print_file(const MachineArguments& options) {
    if (options.measure || options.refresh || options.quick || options.threads > 0 || options.ranks > 0)
        throw Error("", "FILE", "is given, and only this machine can be measured", "leave the file out",
                    ErrorKind::kUsage);
    const machine::Description description = machine::read_description(options.file);
    write_or_print(
        options.json ? machine::description_json(description) : machine::print_description(description),
        options.out);
    return 0;
}

}  // namespace

Verb machine_verb() {
    return {
        .name = "machine",
        .help =
            "describe this machine: cores, memory, compute units, compiler flags; measure its rates; or "
            "print the description of another one",
        .examples = {"tessera machine", "tessera machine --measure --out host.toml",
                     "tessera machine --refresh", "tessera machine --refresh --quick --threads 1",
                     "tessera machine --measure --ranks 2", "mpirun -np 2 tessera machine --ranks 2",
                     "tessera machine --json", "tessera machine machines/chips/small-16.toml"},
        .declare = [](CLI::App& app, const Environment& environment) -> Job {
            const auto options = std::make_shared<MachineArguments>();
            app.add_option(
                   "FILE", options->file,
                   "print this description of a CPU, a cluster or a chip, also of an older format, in "
                   "today's")
                ->check(not_empty());
            app.add_option("-o,--out", options->out, "write the description to this file instead of stdout")
                ->check(not_empty())
                ->type_name("FILE");
            app.add_flag(
                "--measure", options->measure,
                "measure, unless that was done with these kernels and this compiler; what is compiled for "
                "this machine then uses it");
            app.add_flag("--refresh", options->refresh, "measure again");
            app.add_flag("--quick", options->quick,
                         "few and short samples, and no micro-kernels: what a first compilation measures by "
                         "itself; not "
                         "kept");
            app.add_option("--threads", options->threads,
                           "measure with at most so many threads; the result is not kept")
                ->type_name("N")
                ->check(whole_number(1, int64_t{1} << 20));
            app.add_flag("--json", options->json, "print JSON, with the same fields, instead of TOML");
            app.add_option(
                   "--ranks", options->ranks,
                   "also measure the link between so many threads, or processes that mpirun starts; what is "
                   "compiled for as many ranks then uses it")
                ->type_name("N")
                ->check(whole_number(2, 128));
            return [options, &environment] {
                if (!options->out.empty()) check_output(options->out);
                if (!options->file.empty()) return print_file(*options);
                machine::Machine machine = describe(*options, environment);
                if (options->ranks > 0 && !measure_ranks(machine, *options, environment)) return 0;
                return print_host(machine, options->out, options->json);
            };
        }};
}

}  // namespace tessera::cli
