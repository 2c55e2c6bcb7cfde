#include "codegen/compiled_plans.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <dlfcn.h>
#include <unistd.h>

#include "codegen/cpp/emit.h"
#include "codegen/step_memory.h"
#include "lowering/lower.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/subprocess.h"

namespace tessera::testing {

namespace fs = std::filesystem;

struct CompiledPlans::Entry {
    Graph graph;
    Plan plan;
    std::vector<Program> programs;
};

struct CompiledPlans::Library {
    void* handle = nullptr;
    ~Library() {
        if (handle) dlclose(handle);
    }
};

std::vector<std::string> flags_for_lanes(int64_t lanes) {
    if (lanes == 16) return {"-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq", "-mfma"};
    if (lanes == 8) return {"-mavx2", "-mfma"};
    return {};
}

std::vector<int64_t> host_lanes() {
    std::vector<int64_t> lanes;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
        lanes.push_back(16);
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) lanes.push_back(8);
#endif
    lanes.push_back(4);
    return lanes;
}

CompiledPlans::CompiledPlans(int64_t lanes) : lanes_(lanes), library_(std::make_unique<Library>()) {}
CompiledPlans::CompiledPlans(CompiledPlans&&) noexcept = default;
CompiledPlans::~CompiledPlans() = default;

size_t CompiledPlans::add(const Graph& graph, const Plan& plan) {
    const size_t index = entries_.size();
    Entry entry{graph, plan, {}};
    const ConstantSection constants = constant_section(graph, plan);
    for (const SpecialisationPlan& s : plan.specialisations) {
        entry.programs.push_back(lower(graph, plan, s, constants));
        entry.programs.back().specialisation += fmt::format("_{}", index);  // names of one unit are unique
    }
    entries_.push_back(std::move(entry));
    return index;
}

const std::vector<Program>& CompiledPlans::programs(size_t index) const {
    return entries_.at(index).programs;
}

void CompiledPlans::compile() {
    std::vector<Program> programs;
    for (const Entry& entry : entries_)
        programs.insert(programs.end(), entry.programs.begin(), entry.programs.end());
    const std::string code = cpp::emit("test", programs);
    const fs::path folder = fs::temp_directory_path() / fmt::format("tessera-tests-{}", getuid());
    fs::create_directories(folder);
    const std::string stem = fmt::format("{}-{}", hash_hex(code + std::to_string(lanes_)), getpid());
    const fs::path source = folder / (stem + ".cpp"), object = folder / (stem + ".so");
    std::ofstream(source) << code;
    // Compiling takes most of the time of these tests. What users' flags make of such code, the tests of
    // whole models see.
    Process process{.program = "/usr/bin/c++",
                    .arguments = {"-std=c++20", "-Og", "-fPIC", "-shared", "-ffp-contract=off", "-Wall",
                                  "-Wextra", "-Werror", "-I" + std::string(TESSERA_SOURCE_DIR) + "/include",
                                  source.string(), "-o", object.string()}};
    for (const std::string& flag : flags_for_lanes(lanes_)) process.arguments.push_back(flag);
    const ProcessResult result = run_process(process);
    if (result.exit_code != 0) throw Error(source.string(), {}, result.errors.substr(0, 2000));
    library_->handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_->handle) throw Error(object.string(), {}, dlerror());
    fs::remove(source);
    fs::remove(object);
}

GraphResult CompiledPlans::run(size_t index, const GraphCall& call, Turns turns) const {
    const Entry& entry = entries_.at(index);
    for (size_t s = 0; s < entry.plan.specialisations.size(); ++s) {
        const auto& bounds = entry.plan.specialisations[s].bounds;
        const bool fits = std::all_of(bounds.begin(), bounds.end(), [&](const auto& b) {
            return call.symbols.at(b.first) >= b.second.low && call.symbols.at(b.first) <= b.second.high;
        });
        if (!fits) continue;
        const std::string name = cpp::entry_name(entry.programs[s]);
        const auto function = reinterpret_cast<TesseraStepFunction>(dlsym(library_->handle, name.c_str()));
        TESSERA_CHECK(function != nullptr, "{}", name);
        StepMemory memory(entry.graph, entry.plan, entry.plan.specialisations[s], call);
        memory.run(function, turns);
        return memory.results();
    }
    TESSERA_CHECK(false, "no specialisation");
    return {};
}

namespace {

void compare(const TensorData& got, const TensorData& expected, const std::string& name, Difference& worst) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double v : expected.values) {
        if (!std::isfinite(v)) continue;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    const double range = std::max({high - low, std::abs(high), 1e-3});
    for (size_t i = 0; i < expected.values.size(); ++i) {
        const double a = got.values[i], b = expected.values[i];
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        double error = std::abs(a - b) / range;
        if (!(error < 1e30)) error = 1e30;
        if (error > worst.relative)
            worst = {error, fmt::format("{} element {}: {} instead of {}", name, i, a, b)};
    }
}

}  // namespace

Difference difference(const GraphResult& got, const GraphResult& expected) {
    Difference worst;
    for (size_t o = 0; o < expected.outputs.size(); ++o)
        compare(got.outputs[o], expected.outputs[o], fmt::format("output {}", o), worst);
    for (const auto& [name, repetitions] : expected.states) {
        for (size_t r = 0; r < repetitions.size(); ++r)
            compare(got.states.at(name)[r], repetitions[r], name, worst);
    }
    return worst;
}

}  // namespace tessera::testing
