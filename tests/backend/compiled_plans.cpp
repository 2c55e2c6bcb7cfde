#include "backend/compiled_plans.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backend/backend.h"
#include "lowering/lower.h"
#include "lowering/movement/interpreted_plan.h"
#include "lowering/movement/step_memory.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/subprocess.h"

namespace tessera::testing {

namespace fs = std::filesystem;

namespace {

/// Results are differences of terms as large as this.
constexpr double kSmallest = 0.1;

}  // namespace

struct CompiledPlans::Entry {
    Graph graph;
    plan::Plan plan;
    std::vector<movement::Program> programs;  ///< with names that are unique in the unit
    InterpretedPlan interpreted;
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

CompiledPlans::CompiledPlans(int64_t lanes, const backend::Backend& backend, double tolerance)
    : lanes_(lanes), backend_(backend), tolerance_(tolerance), library_(std::make_unique<Library>()) {}
CompiledPlans::CompiledPlans(CompiledPlans&&) noexcept = default;
CompiledPlans::~CompiledPlans() = default;

size_t CompiledPlans::add(const Graph& graph, const plan::Plan& plan, const backend::Exchanges& exchanges) {
    const size_t index = entries_.size();
    for (const auto& [node, exchange] : exchanges)
        TESSERA_CHECK(exchanges_.emplace(node, exchange).second, "two exchanges are named {}", node);
    InterpretedPlan interpreted(graph, plan);
    Entry entry{graph, plan, interpreted.programs(), std::move(interpreted)};
    for (movement::Program& program : entry.programs) program.specialisation += fmt::format("_{}", index);
    entries_.push_back(std::move(entry));
    return index;
}

const std::vector<movement::Program>& CompiledPlans::programs(size_t index) const {
    return entries_.at(index).programs;
}

void CompiledPlans::compile() {
    std::vector<movement::Program> programs;
    for (const Entry& entry : entries_)
        programs.insert(programs.end(), entry.programs.begin(), entry.programs.end());
    const auto [code, units, language] = backend_.emit("test", programs, exchanges_);
    const bool is_c = language == backend::Language::kC;
    const fs::path folder = fs::temp_directory_path() / fmt::format("tessera-tests-{}", getuid());
    fs::create_directories(folder);
    const std::string stem = fmt::format("{}-{}", hash_hex(code + std::to_string(lanes_)), getpid());
    const fs::path source = folder / fmt::format("{}.{}", stem, backend_.suffix),
                   object = folder / (stem + ".so");
    std::ofstream(source) << code;
    // Compiling takes most of the time of these tests. The tests of whole models cover users' flags.
    Process process{.program = is_c ? "/usr/bin/cc" : "/usr/bin/c++",
                    .arguments = {is_c ? "-std=c99" : "-std=c++20", is_c ? "-O1" : "-Og", "-fPIC", "-shared",
                                  "-ffp-contract=off", "-Wall", "-Wextra", "-Werror",
                                  "-I" + std::string(TESSERA_SOURCE_DIR) + "/include", source.string(), "-o",
                                  object.string()}};
    if (is_c) process.arguments.insert(process.arguments.end(), {"-Wpedantic", "-lm"});
    for (const std::string& flag : flags_for_lanes(lanes_)) process.arguments.push_back(flag);
    const ProcessResult result = run_process(process);
    if (result.exit_code != 0) throw Error(source.string(), {}, result.errors.substr(0, 2000));
    library_->handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_->handle) throw Error(object.string(), {}, dlerror());
    fs::remove(source);
    fs::remove(object);
}

namespace {

template <class To>
std::vector<To*> addresses(const std::vector<std::span<std::byte>>& memory) {
    std::vector<To*> result;
    for (const auto& bytes : memory) result.push_back(reinterpret_cast<To*>(bytes.data()));
    return result;
}

/// The arguments of a step. The memory must outlive the call.
class Step {
public:
    explicit Step(const movement::ProgramMemory& memory)
        : inputs_(addresses<const void>(memory.inputs)),
          outputs_(addresses<void>(memory.outputs)),
          states_(addresses<unsigned char>(memory.states)),
          step{memory.symbols.data(),
               inputs_.data(),
               outputs_.data(),
               reinterpret_cast<unsigned char*>(memory.constants.data()),
               states_.data(),
               reinterpret_cast<unsigned char*>(memory.arena.data()),
               0,
               nullptr,
               nullptr} {}

private:
    std::vector<const void*> inputs_;
    std::vector<void*> outputs_;
    std::vector<unsigned char*> states_;

public:
    TesseraStep step;
};

runtime::Communicator& communicator(void* ranks) {
    return *static_cast<runtime::Communicator*>(ranks);
}

}  // namespace

TesseraStepFunction CompiledPlans::function(size_t index, size_t specialisation) const {
    const std::string name = backend::entry_name(entries_.at(index).programs[specialisation]);
    const auto function = reinterpret_cast<TesseraStepFunction>(dlsym(library_->handle, name.c_str()));
    TESSERA_CHECK(function != nullptr, "{}", name);
    return function;
}

GraphResult CompiledPlans::run(size_t index, const GraphCall& call, Turns turns) const {
    const Entry& entry = entries_.at(index);
    const size_t s = specialisation_for(entry.plan, call);
    const StepMemory memory(entry.graph, entry.plan, entry.plan.specialisations[s], call);
    const movement::ProgramMemory parts = memory.memory();
    const Step step(parts);
    if (entry.plan.workers == 1)
        function(index, s)(&step.step);
    else
        run_by_turns(function(index, s), step.step, entry.plan.workers, turns, 1);
    GraphResult result = memory.results();
    const InterpretedPlan::Run interpreted = entry.interpreted.run(call);
    const Difference worst = difference(result, interpreted.result, kSmallest);
    EXPECT_EQ(interpreted.faults_text(), "") << plan::print(entry.plan);
    EXPECT_LE(worst.relative, tolerance_) << "emitted code against the interpreter: " << worst.where << "\n"
                                          << plan::print(entry.plan);
    EXPECT_LE(worst.of_row, tolerance_)
        << "emitted code against the interpreter: " << worst.where_in_row << "\n"
        << plan::print(entry.plan);
    return result;
}

GraphResult CompiledPlans::run(size_t index, const GraphCall& call, runtime::Communicator& ranks) const {
    const Entry& entry = entries_.at(index);
    const size_t s = specialisation_for(entry.plan, call);
    const StepMemory memory(entry.graph, entry.plan, entry.plan.specialisations[s], call);
    const movement::ProgramMemory parts = memory.memory();
    Step step(parts);
    step.step.ranks = &ranks;
    step.step.rank = ranks.rank();
    step.step.gather = [](void* of, unsigned char* all, int64_t bytes) {
        communicator(of).gather(all, bytes);
    };
    step.step.transpose = [](void* of, unsigned char* all, int64_t bytes) {
        communicator(of).transpose(all, bytes);
    };
    step.step.place = [](void* of, unsigned char* whole, int64_t rows, const int64_t* starts) {
        communicator(of).place(whole, rows, {starts, static_cast<size_t>(communicator(of).ranks()) + 1});
    };
    function(index, s)(&step.step);
    return memory.results();
}

std::vector<std::string> backend_names() {
    std::vector<std::string> names;
    for (const backend::Backend& backend : backend::backends()) names.emplace_back(backend.name);
    return names;
}

std::string name_of_test(const ::testing::TestParamInfo<std::string>& backend) {
    std::string name = backend.param;
    std::ranges::replace(name, '-', '_');
    return name;
}

void expect_compiled_plans_compute(int64_t lanes, const std::vector<PlannedGraph>& plans,
                                   const backend::Backend& backend, double tolerance) {
    CompiledPlans compiled(lanes, backend, tolerance);
    for (const PlannedGraph& planned : plans) compiled.add(planned.lowered(), planned.plan);
    compiled.compile();
    for (size_t p = 0; p < plans.size(); ++p) {
        for (const int64_t tokens : kTokens) {
            const GraphCall call = plans[p].graph.call(tokens);
            const GraphResult expected = interpret_graph(plans[p].graph.graph, call);
            for (const Turns turns : {Turns::kAscending, Turns::kDescending, Turns::kRandom}) {
                const Difference worst = difference(compiled.run(p, call, turns), expected, kSmallestOutput);
                ASSERT_LE(worst.relative, kToleranceOfPlans)
                    << plans[p].what << ", T = " << tokens << ", turns " << static_cast<int>(turns) << ": "
                    << worst.where << "\n"
                    << print(plans[p].lowered()) << plan::print(plans[p].plan);
                if (plans[p].plan.workers == 1) break;
            }
        }
    }
}

std::vector<uint64_t> seeds_of_lanes(uint64_t first, uint64_t end, int64_t lanes) {
    std::vector<uint64_t> seeds;
    for (uint64_t seed = first; seed < end; ++seed) {
        if (lanes_of(seed) == lanes) seeds.push_back(seed);
    }
    return seeds;
}

}  // namespace tessera::testing
