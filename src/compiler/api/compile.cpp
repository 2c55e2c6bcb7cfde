#include "tessera/compile.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/compiler.h"
#include "machine/host_cache.h"
#include "machine/machine_text.h"
#include "machine/probe.h"
#include "support/error.h"
#include "support/limits.h"

namespace tessera {
namespace {

[[noreturn]] void refuse(const char* setting, const std::string& value, const std::string& known) {
    throw Error("", setting, fmt::format("is \"{}\", expected {}", value, known), "", ErrorKind::kUsage);
}

/// The host as it was measured, if it was; compiling itself never spends the time.
machine::Machine machine_of(const CompileSettings& settings) {
    if (!settings.machine.empty()) return machine::read_machine(settings.machine);
    machine::Machine probed = machine::probe_host();
    if (settings.measured_machines.empty()) return probed;
    return machine::cached_host(settings.measured_machines, probed).value_or(probed);
}

compiler::CompileOptions options_of(const CompileSettings& settings) {
    compiler::CompileOptions options{
        .machine = machine_of(settings),
        .ntt_include = settings.include_directory,
        .search_path = settings.search_path,
        .cache = settings.cache_directory,
        .workers = settings.workers,
        .context = settings.context,
        .on_pass = settings.on_pass,
        .while_waiting = settings.while_waiting,
    };
    if (options.workers && (*options.workers < 1 || *options.workers > kMostWorkers))
        refuse("workers", fmt::to_string(*options.workers), fmt::format("1 to {}", kMostWorkers));
    constexpr int64_t kMostRanks = 128;
    if (settings.ranks && (*settings.ranks < 1 || *settings.ranks > kMostRanks))
        refuse("ranks", fmt::to_string(*settings.ranks), fmt::format("1 to {}", kMostRanks));
    if (settings.ranks.value_or(1) > 1) options.ranks = settings.ranks;
    if (!settings.cluster.empty()) options.cluster = settings.cluster;
    options.rank_memory = settings.rank_memory;
    const std::optional<import::Policy> policy = import::policy_of(settings.policy);
    if (!policy) refuse("policy", settings.policy, "default, exact or fast");
    options.policy = *policy;
    if (settings.cache_type != "auto") {
        options.cache_type = import::cache_type_of(settings.cache_type);
        if (!options.cache_type) refuse("cache_type", settings.cache_type, "auto, f32, f16, bf16 or q8_0");
    }
    if (!settings.quantize.empty()) {
        options.quantisation = import::mixture_of(settings.quantize);
        if (!options.quantisation) refuse("quantize", settings.quantize, "q8_0, q4_0 or q4_k_m");
    }
    if (!settings.architecture.empty()) options.architecture = settings.architecture;
    options.embeddings = settings.embeddings;
    if (settings.search_effort < 0 || settings.search_effort > kMostSearchEffort)
        refuse("search_effort", fmt::to_string(settings.search_effort),
               fmt::format("0 to {}", kMostSearchEffort));
    options.search_effort = settings.search_effort;
    if (!settings.cost.empty()) {
        options.cost = machine::find_published_model(settings.cost);
        if (!options.cost) refuse("cost", settings.cost, "nncase, mcfuser or roofline");
    }
    options.parts = compiler::search_parts(settings.without, settings.regions);
    for (const auto& [setting, is_given] :
         {std::pair("cost", !settings.cost.empty()), std::pair("without", !settings.without.empty()),
          std::pair("regions", settings.regions.has_value())})
        if (is_given && !settings.plan.empty())
            throw Error("", setting, "is of a search, and `plan` leaves nothing to search",
                        "leave one of them out", ErrorKind::kUsage);
    options.backend = backend::find_backend(settings.backend);
    if (!options.backend) refuse("backend", settings.backend, backend::backend_names());
    if (!settings.plan.empty()) options.plan = settings.plan;
    if (!settings.kernels.empty()) options.kernels = settings.kernels;
    if (!settings.tuning.empty()) options.tuning = settings.tuning;
    if (!settings.dump.empty()) options.dump = settings.dump;
    return options;
}

}  // namespace

CompileReport compile(const std::filesystem::path& model, const std::filesystem::path& out,
                      const CompileSettings& settings) {
    if (!std::filesystem::exists(model))
        throw Error(model.string(), "", "does not exist", "give a HuggingFace folder or a GGUF file");
    return compiler::compile_model(model, out, options_of(settings));
}

namespace {

/// Settings that a graph with types of its own leaves as they are.
void expect_of_programs(const std::filesystem::path& program, const CompileSettings& settings) {
    const CompileSettings untouched;
    const std::pair<const char*, bool> of_models[] = {
        {"policy", settings.policy != untouched.policy},
        {"cache_type", settings.cache_type != untouched.cache_type},
        {"quantize", settings.quantize != untouched.quantize},
        {"architecture", !settings.architecture.empty()},
        {"embeddings", settings.embeddings},
        {"context", settings.context.has_value()},
        {"ranks", settings.ranks.has_value()}};
    for (const auto& [setting, is_given] : of_models)
        if (is_given)
            throw Error(program.string(), setting, "is a setting for models, this is a program",
                        "its operators and types are what the file says", ErrorKind::kUsage);
}

}  // namespace

CompileReport compile_program(const std::filesystem::path& program,
                              const std::map<std::string, std::filesystem::path>& constants,
                              const std::filesystem::path& out, const CompileSettings& settings) {
    expect_of_programs(program, settings);
    return compiler::compile_program(program, constants, out, options_of(settings));
}

CompileReport compile_onnx(const std::filesystem::path& model, const OnnxSettings& onnx,
                           const std::filesystem::path& out, const CompileSettings& settings) {
    expect_of_programs(model, settings);
    return compiler::compile_onnx(model, onnx, out, options_of(settings));
}

CompileReport retarget(const std::filesystem::path& artefact, const std::filesystem::path& out,
                       const CompileSettings& settings) {
    if (settings.context)
        throw Error(artefact.string(), "", "has a context of its own", "compile the model for another one",
                    ErrorKind::kUsage);
    return compiler::retarget_artefact(artefact, out, options_of(settings));
}

}  // namespace tessera
