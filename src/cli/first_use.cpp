#include "cli/first_use.h"

#include <CLI/CLI.hpp>

#include "cli/host_machine.h"
#include "cli/number_checks.h"
#include "support/limits.h"
#include "tessera/compile.h"

namespace tessera::cli {

void add_architecture_flag(CLI::App& app, std::string& file) {
    app.add_option(
           "--architecture", file,
           "the text of an architecture that the model is of, beside those within (docs/architectures.md)")
        ->check(not_empty())
        ->type_name("FILE");
}

tessera::import::Architectures architectures_of(const std::string& file) {
    if (file.empty()) return {};
    const std::filesystem::path path = file;
    return import::Architectures({&path, 1});
}

void add_model_flags(CLI::App& app, ModelFlags& flags) {
    app.add_option(
           "--policy", flags.policy,
           "exact: activations and cache stay F32; default: what F16 or BF16 weights and caches of BF16 are "
           "multiplied with is rounded to their type, quantised ones to 15 bits in blocks; fast: to 8 bits")
        ->capture_default_str()
        ->check(CLI::IsMember({"default", "exact", "fast"}));
    app.add_option("--cache-type", flags.cache_type,
                   "of keys and values; auto: that of the weights (BF16 where they are quantised), F32 under "
                   "--policy exact; q8_0: half the memory of bf16")
        ->capture_default_str()
        ->check(CLI::IsMember({"auto", "f32", "f16", "bf16", "q8_0"}));
    app.add_option("--quantize", flags.quantize,
                   "quantise the matrices of a float checkpoint as llama.cpp's mixture of that name does")
        ->check(CLI::IsMember({"q8_0", "q4_0", "q4_k_m"}));
    add_architecture_flag(app, flags.architecture);
}

void add_effort_flag(CLI::App& app, int64_t& search_effort) {
    app.add_option(
           "--search-effort", search_effort,
           "work of the searches, a multiple of the default; the same number gives the same artefact; "
           "0: no search for graphs and layouts, a short one for kernels")
        ->type_name("N")
        ->capture_default_str()
        ->check(whole_number(0, kMostSearchEffort));
}

void add_first_use_flags(CLI::App& app, FirstUse& flags) {
    app.add_option("-t,--workers,--threads", flags.workers,
                   "threads that compute together, for a model that is compiled on first use (default: those "
                   "that `tessera compile` takes)")
        ->check(whole_number(1, kMostWorkers))
        ->type_name("N");
    app.add_option("--machine", flags.machine, "machine description for it (TOML; default: this machine)")
        ->check(not_empty())
        ->type_name("FILE");
    add_no_measure_flag(app, flags.no_measure);
    add_effort_flag(app, flags.search_effort);
    add_model_flags(app, flags.model);
}

}  // namespace tessera::cli
