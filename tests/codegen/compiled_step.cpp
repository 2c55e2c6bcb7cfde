#include "codegen/compiled_step.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "codegen/cpp/emit.h"
#include "movement/lower.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/subprocess.h"
#include "tessera/step.h"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;

/// 64-byte aligned bytes, with canaries around them that show a write outside.
class Memory {
public:
    explicit Memory(size_t bytes) : bytes_(bytes), storage_(bytes + 3 * kGuard, kCanary) {
        const auto begin = reinterpret_cast<uintptr_t>(storage_.data()) + kGuard;
        data_ = storage_.data() + ((begin + 63) / 64 * 64 - reinterpret_cast<uintptr_t>(storage_.data()));
        std::memset(data_, 0, bytes);
    }
    unsigned char* data() const { return data_; }
    bool is_intact() const {
        for (const unsigned char* p = storage_.data(); p < data_; ++p) {
            if (*p != kCanary) return false;
        }
        for (const unsigned char* p = data_ + bytes_; p < storage_.data() + storage_.size(); ++p) {
            if (*p != kCanary) return false;
        }
        return true;
    }

private:
    static constexpr size_t kGuard = 256;
    static constexpr unsigned char kCanary = 0xA5;
    size_t bytes_;
    std::vector<unsigned char> storage_;
    unsigned char* data_;
};

void put(unsigned char* to, ElementType type, size_t at, double value) {
    if (type == ElementType::kI32) {
        const auto v = static_cast<int32_t>(value);
        std::memcpy(to + at * 4, &v, 4);
    } else {
        TESSERA_CHECK(type == ElementType::kF32);
        const auto v = static_cast<float>(value);
        std::memcpy(to + at * 4, &v, 4);
    }
}

double get(const unsigned char* from, size_t at) {
    float v = 0;
    std::memcpy(&v, from + at * 4, 4);
    return v;
}

template <typename Visit>
void for_each_element(const std::vector<int64_t>& shape, Visit&& visit) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    std::vector<int64_t> at(shape.size());
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i;
        for (size_t axis = shape.size(); axis-- > 0;) {
            at[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        visit(static_cast<size_t>(i), at);
    }
}

int64_t repetitions_of(const Graph& graph, const Value& state) {
    for (const Block& block : graph.blocks) {
        for (const StateUpdate& update : block.states) {
            if (graph[update.before].name == state.name) return block.repeat;
        }
    }
    return 1;
}

}  // namespace

struct CompiledStep::Library {
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
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq")) {
        lanes.push_back(16);
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) lanes.push_back(8);
#endif
    lanes.push_back(4);
    return lanes;
}

CompiledStep::CompiledStep(const Graph& graph, const Plan& plan, int64_t lanes)
    : graph_(graph), plan_(plan), library_(std::make_unique<Library>()) {
    const ConstantSection constants = constant_section(graph, plan);
    std::vector<Program> programs;
    for (const SpecialisationPlan& s : plan.specialisations) programs.push_back(lower(graph, plan, s, constants));
    code_ = cpp::emit(graph.name, programs);

    const fs::path folder = fs::temp_directory_path() / "tessera-tests";
    fs::create_directories(folder);
    const std::string stem = hash_hex(code_ + std::to_string(lanes));
    const fs::path source = folder / (stem + ".cpp"), object = folder / (stem + ".so");
    std::ofstream(source) << code_;
    Process process{.program = "/usr/bin/c++",
                    .arguments = {"-std=c++20", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror",
                                  "-I" + std::string(TESSERA_SOURCE_DIR) + "/include", source.string(), "-o", object.string()}};
    for (const std::string& flag : flags_for_lanes(lanes)) process.arguments.push_back(flag);
    const ProcessResult result = run_process(process);
    if (result.exit_code != 0) throw Error(source.string(), {}, result.errors.substr(0, 2000));
    library_->handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_->handle) throw Error(object.string(), {}, dlerror());
    fs::remove(source);
    fs::remove(object);
}

CompiledStep::CompiledStep(CompiledStep&&) noexcept = default;
CompiledStep::~CompiledStep() = default;

GraphResult CompiledStep::run(const GraphCall& call) const {
    const SpecialisationPlan* chosen = nullptr;
    for (const SpecialisationPlan& s : plan_.specialisations) {
        const bool fits = std::all_of(s.bounds.begin(), s.bounds.end(), [&](const auto& b) {
            return call.symbols.at(b.first) >= b.second.low && call.symbols.at(b.first) <= b.second.high;
        });
        if (fits && !chosen) chosen = &s;
    }
    TESSERA_CHECK(chosen != nullptr);

    std::vector<int64_t> symbols;
    for (const DimSymbol& s : graph_.symbols) symbols.push_back(call.symbols.at(s.name));
    const ConstantSection section = constant_section(graph_, plan_);
    Memory constants(static_cast<size_t>(section.bytes));
    Memory arena(static_cast<size_t>(chosen->arena_bytes));
    std::vector<Memory> memory;
    memory.reserve(graph_.values.size() + graph_.outputs.size());
    std::vector<const void*> inputs;
    std::vector<unsigned char*> states;
    std::vector<void*> outputs;
    for (const Value& value : graph_.values) {
        const std::vector<int64_t> shape = evaluate(value.type.shape, call.symbols);
        const Layout& layout = stored_layout(plan_, value.name);
        if (value.kind == ValueKind::kConstant) {
            const StoredConstant& stored = section.constants.at(value.name);
            for (int64_t r = 0; r < stored.repetitions; ++r) {
                const TensorData data = call.constant(value, r);
                for_each_element(shape, [&](size_t i, const std::vector<int64_t>& at) {
                    put(constants.data() + stored.offset + r * stored.stride, value.type.element,
                        static_cast<size_t>(offset_of(layout, shape, at)), data.values[i]);
                });
            }
        } else if (value.kind == ValueKind::kInput) {
            memory.emplace_back(call.inputs.at(value.name).values.size() * 4);
            for (size_t i = 0; i < call.inputs.at(value.name).values.size(); ++i) {
                put(memory.back().data(), value.type.element, i, call.inputs.at(value.name).values[i]);
            }
            inputs.push_back(memory.back().data());
        } else if (value.kind == ValueKind::kState) {
            const int64_t size = stored_elements(layout, shape);
            const auto& before = call.states.at(value.name);
            memory.emplace_back(static_cast<size_t>(size * repetitions_of(graph_, value) * 4));
            for (size_t r = 0; r < before.size(); ++r) {
                for_each_element(shape, [&](size_t i, const std::vector<int64_t>& at) {
                    put(memory.back().data() + static_cast<int64_t>(r) * size * 4, value.type.element,
                        static_cast<size_t>(offset_of(layout, shape, at)), before[r].values[i]);
                });
            }
            states.push_back(memory.back().data());
        }
    }
    const size_t first_output = memory.size();
    for (const ValueId output : graph_.outputs) {
        size_t count = 1;
        for (const int64_t extent : evaluate(graph_[output].type.shape, call.symbols)) count *= static_cast<size_t>(extent);
        memory.emplace_back(count * 4);
        outputs.push_back(memory.back().data());
    }

    const auto entry = reinterpret_cast<TesseraStepFunction>(dlsym(library_->handle, ("tessera_step_" + chosen->name).c_str()));
    TESSERA_CHECK(entry != nullptr, "{}", chosen->name);
    const TesseraStep step{symbols.data(), inputs.data(), outputs.data(), constants.data(), states.data(), arena.data()};
    entry(&step);
    for (const Memory& m : memory) {
        if (!m.is_intact()) throw Error("emitted code", {}, "wrote outside a buffer");
    }
    if (!arena.is_intact() || !constants.is_intact()) throw Error("emitted code", {}, "wrote outside the arena or the constants");

    GraphResult result;
    for (size_t o = 0; o < graph_.outputs.size(); ++o) {
        TensorData data{evaluate(graph_[graph_.outputs[o]].type.shape, call.symbols), {}};
        for_each_element(data.shape, [&](size_t i, const auto&) { data.values.push_back(get(memory[first_output + o].data(), i)); });
        result.outputs.push_back(std::move(data));
    }
    size_t state = 0;
    for (const Value& value : graph_.values) {
        if (value.kind != ValueKind::kState) continue;
        const std::vector<int64_t> shape = evaluate(value.type.shape, call.symbols);
        const Layout& layout = stored_layout(plan_, value.name);
        const int64_t size = stored_elements(layout, shape);
        for (int64_t r = 0; r < repetitions_of(graph_, value); ++r) {
            TensorData data{shape, {}};
            for_each_element(shape, [&](size_t, const std::vector<int64_t>& at) {
                data.values.push_back(get(states[state] + r * size * 4, static_cast<size_t>(offset_of(layout, shape, at))));
            });
            result.states[value.name].push_back(std::move(data));
        }
        ++state;
    }
    return result;
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
        if (error > worst.relative) worst = {error, fmt::format("{} element {}: {} instead of {}", name, i, a, b)};
    }
}

}  // namespace

Difference difference(const GraphResult& got, const GraphResult& expected) {
    Difference worst;
    for (size_t o = 0; o < expected.outputs.size(); ++o) compare(got.outputs[o], expected.outputs[o], fmt::format("output {}", o), worst);
    for (const auto& [name, repetitions] : expected.states) {
        for (size_t r = 0; r < repetitions.size(); ++r) compare(got.states.at(name)[r], repetitions[r], name, worst);
    }
    return worst;
}

}  // namespace tessera::testing
