// Predicted beside measured seconds of kernels: `predict_bench MACHINE.toml INCLUDE CACHE [FILTER]`. Each
// instance (whose name has FILTER in it) is planned, lowered and compiled as a model is, for one worker; the
// plan is priced by the machine's file alone (cost/step_cost.h), then its code is run: nine samples of each,
// in turns. One JSON object on stdout.
#include <cmath>
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "backend/cpp/emit.h"
#include "bench_main.h"
#include "compiler/measure/call_memory.h"
#include "compiler/measure/near_memory.h"
#include "compiler/measure/probe_code.h"
#include "compiler/measure/samples.h"
#include "compiler/planner_options.h"
#include "cost/step_cost.h"
#include "instances.h"
#include "lowering/lower.h"
#include "run/runtime/shared_library.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

struct Prepared {
    std::string name;
    std::string nest;  ///< of its last kernel
    std::vector<cost::KernelCost> costs;
    int64_t repeat;
    std::unique_ptr<runtime::SharedLibrary> code;
    TesseraStepFunction entry;
    measure::CallMemory memory;
    int64_t constants_bytes;
};

std::unique_ptr<Prepared> prepare(const Instance& instance, const machine::Machine& machine,
                                  const measure::MeasureOptions& options) {
    verify(instance.graph, instance.name);
    const planner::PlannerOptions planning = compiler::planner_options(machine, 1);
    const plan::Plan plan = planner::default_plan(instance.graph, planning);
    const plan::SpecialisationPlan& specialisation = plan.specialisations.front();
    const plan::ConstantSection constants = plan::constant_section(instance.graph, plan);
    const movement::Program program = lowering::lower(instance.graph, plan, specialisation, constants);
    auto code = std::make_unique<runtime::SharedLibrary>(
        measure::compile_probe(backend::cpp::emit("kernel", std::vector<movement::Program>{program}), machine,
                               options),
        instance.name);
    const auto entry = code->function<TesseraStepFunction>(backend::entry_name(program));
    const cost::SizePoint at{.symbols = {}, .contents = instance.contents};
    return std::make_unique<Prepared>(
        Prepared{.name = instance.name,
                 .nest = plan::print(specialisation.kernels.back().nest),
                 .costs = cost::step_costs(instance.graph, plan, specialisation, at.symbols, *planning.costs),
                 .repeat = instance.graph.blocks[0].repeat,
                 .code = std::move(code),
                 .entry = entry,
                 .memory = measure::CallMemory(instance.graph, specialisation.arena_bytes, at),
                 .constants_bytes = constants.bytes});
}

Json as_json(const Prepared& instance, const std::vector<double>& samples) {
    Json json;
    json["name"] = instance.name;
    json["nest"] = instance.nest;
    json["repeat"] = instance.repeat;
    double predicted = 0, near = 0, stall = 0;
    Json levels = Json::object();
    for (const cost::KernelCost& cost : instance.costs) {
        predicted += cost.seconds;
        near += cost.near_seconds;
        stall += cost.stall_seconds;
        for (const cost::LevelTraffic& level : cost.levels) {
            if (!levels.contains(level.level)) levels[level.level] = {{"bytes", 0.0}, {"seconds", 0.0}};
            levels[level.level]["bytes"] = levels[level.level]["bytes"].get<double>() + level.bytes;
            levels[level.level]["seconds"] = levels[level.level]["seconds"].get<double>() + level.seconds;
        }
    }
    json["predicted_seconds"] = predicted;
    json["near_seconds"] = near;
    json["stall_seconds"] = stall;
    json["levels"] = levels;
    for (const double sample : samples)
        json["measured_seconds"].push_back(sample / static_cast<double>(instance.repeat));
    return json;
}

Json run(const machine::Machine& machine, const measure::MeasureOptions& options, const std::string& filter) {
    std::vector<std::unique_ptr<Prepared>> all;
    int64_t most = 1;
    for (const Instance& instance : instances(machine)) {
        if (instance.name.find(filter) == std::string::npos) continue;
        std::fprintf(stderr, "\r%-60s", instance.name.c_str());
        all.push_back(prepare(instance, machine, options));
        most = std::max(most, all.back()->constants_bytes);
    }
    measure::PinnedThreads one(1);
    measure::NearMemory constants(one, most, options);
    std::vector<measure::Sample> samples;
    for (const std::unique_ptr<Prepared>& each : all) {
        samples.push_back(measure::repeated(
            [&one, &constants, instance = each.get()](int64_t calls) {
                const TesseraStep step = instance->memory.step(constants.of(0));
                return one.seconds([&](int64_t) {
                    for (int64_t call = 0; call < calls; ++call) instance->entry(&step);
                });
            },
            options.seconds));
    }
    std::fprintf(stderr, "\r%-60s\n", "measuring");
    const auto taken = measure::samples_in_turns(samples, options);
    Json json;
    for (size_t i = 0; i < all.size(); ++i) json["instances"].push_back(as_json(*all[i], taken[i]));
    return json;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
    return tessera::bench_main(argc, argv, tessera::run);
}
