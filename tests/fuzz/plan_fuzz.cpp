// Plans of small graphs: parsed, verified, lowered, and interpreted if accepted. Every text is either refused
// or a plan whose runs have no fault.
#include "fuzz/target.h"
#include "lowering/kernels/micro_kernels.h"
#include "lowering/movement/example_plans.h"
#include "lowering/movement/interpreted_plan.h"
#include "search/planner/place_buffers.h"
#include "search/planner/verify_plan.h"
#include "search/planner/verify_structure.h"

namespace {

using namespace tessera;

constexpr int64_t kMostArena = 1 << 20;
constexpr int64_t kMostWorkersToRun = 8;

/// Zeros everywhere: accesses do not depend on values, except positions.
GraphCall call_of(const Graph& graph, int64_t tokens) {
    GraphCall call;
    call.symbols = {{"T", tokens}};
    const auto zeros = [](std::vector<int64_t> shape) {
        size_t count = 1;
        for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
        return TensorData{std::move(shape), std::vector<double>(count)};
    };
    for (const Value& value : graph.values) {
        if (value.kind == ValueKind::kInput)
            call.inputs[value.name] = zeros(evaluate(value.type.shape, call.symbols));
    }
    call.states = zero_states(graph, call.symbols);
    call.constant = [zeros](const Value& constant, int64_t) {
        return zeros(evaluate(constant.type.shape, {}));
    };
    return call;
}

void plan_one(const Graph& graph, const plan::Plan& plan) {
    planner::verify_structure(graph, plan, "fuzz");
    const plan::Plan placed = planner::place_buffers(graph, plan);
    planner::verify_plan(graph, placed, "fuzz");
    if (placed.specialisations.empty() || placed.workers > kMostWorkersToRun) return;
    const plan::SpecialisationPlan& first = placed.specialisations.front();
    if (first.arena_bytes > kMostArena) return;
    const testing::InterpretedPlan lowered(graph, placed);
    const testing::InterpretedPlan::Run run = lowered.run(call_of(graph, first.bounds.at("T").low));
    TESSERA_CHECK(run.faults.empty(), "{}", run.faults_text());
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return fuzz::accepts_or_throws_error([&] {
        const plan::Plan plan = plan::parse_plan(fuzz::text_of(data, size), "fuzz", kernels::micro_kernels());
        TESSERA_CHECK(plan::parse_plan(plan::print(plan), "fuzz", kernels::micro_kernels()) == plan);
        for (const auto& [name, example] : testing::examples()) {
            const Graph graph = example.parsed();
            if (graph.name == plan.graph) plan_one(graph, plan);
        }
    });
}

std::vector<std::string> tessera::fuzz::seeds() {
    std::vector<std::string> plans;
    for (const auto& [name, example] : testing::examples()) plans.push_back(plan::print(example.planned()));
    return plans;
}
